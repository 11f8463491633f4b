import { isRejectedToken, SvcError, unlessAborted } from "./error.js";
import { exclusive, pause } from "./exclusive.js";
import { refreshed } from "./refresh-attempts.js";
import type { Known, Session, Sessions, TokenUser } from "./session.js";
import type { SessionStorage, Surroundings } from "./surroundings.js";
import type { Answer, Call, Send } from "./transport.js";

/**
 * `data` of the server's token response (specification, section 2), without the tokens where the server leaves them to
 * cookies alone (`auth.cookie_tokens_in_body`).
 */
export interface TokenResponse {
  readonly user: TokenUser;
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
}

export interface AuthorizedOptions {
  readonly send: Send;
  readonly sessions: Sessions;
  readonly storage: SessionStorage;
  /** Of whatever changes the session. */
  readonly lockName: string;
  readonly cookies: boolean;
  readonly apiKey: string | null;
  /** The server's `auth.refresh_token_rotation_grace_secs`. */
  readonly graceMs: number;
  readonly surroundings: Surroundings;
}

/** An access token is renewed so long before its end. */
const earlyMs = 5_000;
const storedLateMs = 200;

/** Requests with the session's credentials, which renew themselves; and the one place where the session changes. */
export class Authorized {
  readonly #options: AuthorizedOptions;
  #refreshing: { readonly stamp: string | undefined; readonly done: Promise<Known> } | null = null;

  constructor(options: AuthorizedOptions) {
    this.#options = options;
  }

  /**
   * Sends with the credentials that there are, by `send`. A 401 renews the session and asks once more: what was asked for
   * has not been done, so this is safe for writes too. It is never sent as somebody else than it was made by.
   */
  async send(call: Call, send = this.#options.send): Promise<Answer> {
    const { apiKey, sessions } = this.#options;
    if (apiKey !== null) return send(withBearer(call, apiKey));
    const found = await sessions.load();
    const { session, failure } = await this.#inTime(found, call.signal);
    try {
      return await send(withSession(call, session));
    } catch (error) {
      if (!(error instanceof SvcError && error.status === 401) || !this.#mayRenew(session)) throw error;
      if (failure !== null) throw failure;
      const renewed = await unlessAborted(this.refresh(session), call.signal);
      if (!renewed || (session && renewed.user.id !== session.user.id)) throw error;
      return send(withSession(call, renewed));
    }
  }

  /**
   * Rotates the refresh token, once for all tabs. `stale` is the session that was found wanting; where another one has
   * taken its place meanwhile, that is enough. Null: signed out, as the server has confirmed. Throws SvcError where nobody
   * could say, and keeps the session.
   */
  refresh(stale: Known): Promise<Known> {
    const stamp = stale?.stamp;
    if (this.#refreshing?.stamp === stamp && this.#refreshing !== null) return this.#refreshing.done;
    const done = this.#refresh(stamp).finally(() => {
      if (this.#refreshing?.done === done) this.#refreshing = null;
    });
    this.#refreshing = { stamp, done };
    return done;
  }

  /** Runs `act` while nothing else opens, renews or ends the session, in any tab. */
  alone<T>(act: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const { lockName, storage, surroundings } = this.#options;
    return exclusive(lockName, storage, surroundings, act);
  }

  /** Whatever opens a session. */
  signIn(open: () => Promise<TokenResponse>): Promise<TokenUser> {
    return this.alone(async () => this.accept(await open()));
  }

  /** What a token response opens; to be called while alone. */
  async accept(data: TokenResponse): Promise<TokenUser> {
    const session = this.#sessionOf(data);
    await this.#options.sessions.save(session);
    return session.user;
  }

  /** Whatever ends the session, told which one it is. It stays where that throws. */
  signOut(end: (session: Known) => Promise<unknown>): Promise<void> {
    const { sessions } = this.#options;
    return this.alone(async () => {
      const session = await sessions.load();
      await end(session);
      await this.#replace(session, null);
    });
  }

  /** The refresh token as a body; in cookie mode there is none, as the browser sends its cookie. */
  refreshBody(session: Known): { readonly refresh_token: string } | undefined {
    return session?.tokens ? { refresh_token: session.tokens.refresh } : undefined;
  }

  #refresh(stamp: string | undefined): Promise<Known> {
    const { send, sessions, graceMs, surroundings } = this.#options;
    return this.alone(async (hasWaited) => {
      let current = await sessions.load();
      if (hasWaited && current?.stamp === stamp) {
        // What another tab has stored may come a moment later than its lock.
        await pause(storedLateMs, surroundings);
        current = await sessions.load();
      }
      if (current?.stamp !== stamp) return current;
      const call = { method: "POST", path: "/auth/refresh", body: this.refreshBody(current) };
      try {
        const { data } = await refreshed(send, call, graceMs, surroundings);
        return await this.#replace(current, this.#sessionOf(data));
      } catch (error) {
        if (!isRejectedToken(error)) throw error;
        return this.#replace(current, null);
      }
    });
  }

  /** Unless another one has taken its place, which no lock that holds would let happen. */
  async #replace(current: Known, next: Session | null): Promise<Known> {
    const { sessions } = this.#options;
    const now = await sessions.load();
    if (now?.stamp !== current?.stamp) return now;
    await sessions.save(next);
    return next;
  }

  #sessionOf(data: unknown): Session {
    const { surroundings } = this.#options;
    const { user, expires_in } = data as TokenResponse;
    if (typeof user?.id !== "string" || typeof expires_in !== "number") throw notTheServers();
    return {
      stamp: `${surroundings.now()} ${surroundings.random()}`,
      user: { id: user.id, email: user.email, role: user.role },
      expiresAtMs: surroundings.now() + expires_in * 1000,
      tokens: this.#options.cookies ? null : tokensOf(data as TokenResponse),
    };
  }

  /**
   * The session, renewed where its access token is about to end. Where the server cannot be reached that is no reason not
   * to try the request, and asking again would lead nowhere.
   */
  async #inTime(
    session: Known,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly session: Known; readonly failure: SvcError | null }> {
    if (!session || session.expiresAtMs - earlyMs > this.#options.surroundings.now())
      return { session, failure: null };
    try {
      const renewed = await unlessAborted(this.refresh(session), signal);
      if (renewed && renewed.user.id !== session.user.id) throw somebodyElse();
      return { session: renewed, failure: null };
    } catch (error) {
      if (!(error instanceof SvcError && error.isTransient)) throw error;
      return { session, failure: error };
    }
  }

  /** In cookie mode the browser may hold a session that this page has not heard of. */
  #mayRenew(session: Known): boolean {
    return session === undefined ? this.#options.cookies : session !== null;
  }
}

function tokensOf({ access_token, refresh_token }: TokenResponse): NonNullable<Session["tokens"]> {
  if (access_token === undefined && refresh_token === undefined)
    throw new SvcError(200, "unexpected_answer", 'the server leaves tokens to cookies: session: "cookie"');
  if (typeof access_token !== "string" || typeof refresh_token !== "string") throw notTheServers();
  return { access: access_token, refresh: refresh_token };
}

function notTheServers(): SvcError {
  return new SvcError(200, "unexpected_answer", "an answer that is not the server's");
}

function somebodyElse(): SvcError {
  return new SvcError(401, "unauthorized", "somebody else has signed in meanwhile");
}

export function withSession(call: Call, session: Known): Call {
  return session?.tokens ? withBearer(call, session.tokens.access) : call;
}

function withBearer(call: Call, token: string): Call {
  return { ...call, headers: { ...call.headers, Authorization: `Bearer ${token}` } };
}
