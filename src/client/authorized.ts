import type { TokenUser } from "../wire/users.js";
import { isRejectedToken, SvcError, unlessAborted } from "./error.js";
import { exclusive, pause } from "./exclusive.js";
import { refreshed } from "./refresh-attempts.js";
import type { Known, Session, Sessions } from "./session.js";
import type { SessionStorage, Surroundings } from "./surroundings.js";
import type { Answer, Call, Send } from "./transport.js";

/**
 * The `data` of a response that opens or renews a session (`docs/reference/auth.md#token-responses`). The tokens are
 * missing if the server sends them only as cookies (`auth.cookie_tokens_in_body = false`).
 */
export interface TokenResponse {
  readonly user: TokenUser;
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
}

/** What an `Authorized` is made of. */
export interface AuthorizedOptions {
  readonly send: Send;
  readonly sessions: Sessions;
  readonly storage: SessionStorage;
  /** The name of the lock that is held while the session changes, the same in all tabs. */
  readonly lockName: string;
  readonly cookies: boolean;
  readonly apiKey: string | null;
  /** How long the server accepts a refresh of the same tokens again: `auth.refresh_token_rotation_grace_secs`. */
  readonly graceMs: number;
  readonly surroundings: Surroundings;
}

/** An access token is renewed this many milliseconds before it expires. */
const earlyMs = 5_000;
const storedLateMs = 200;

/** Sends requests with the API key or the session's access token. Only this class opens, renews or ends the session. */
export class Authorized {
  readonly #options: AuthorizedOptions;
  #refreshing: { readonly stamp: string | undefined; readonly done: Promise<Known> } | null = null;

  constructor(options: AuthorizedOptions) {
    this.#options = options;
  }

  /**
   * Sends a call by `send`, with the API key or the session's access token. After a 401 to an access token it renews
   * the session and sends the call once more; that is safe for writes too, because a 401 changes nothing. If the
   * session is over or now belongs to another user, it throws the 401 instead.
   */
  async send(call: Call, send = this.#options.send): Promise<Answer> {
    const { apiKey, sessions } = this.#options;
    if (apiKey !== null) return send(withBearer(call, apiKey));
    const found = await sessions.load();
    if (call.user !== undefined && call.user !== found?.user.id) throw somebodyElse();
    const { session, failure } = await this.#inTime(found, call.signal);
    try {
      return await send(this.#of(session, call));
    } catch (error) {
      if (!(error instanceof SvcError && error.status === 401) || !this.#mayRenew(session)) throw error;
      if (failure !== null) throw failure;
      const renewed = await unlessAborted(this.refresh(session), call.signal);
      if (!renewed || (session && renewed.user.id !== session.user.id)) throw error;
      return send(this.#of(renewed, call));
    }
  }

  /**
   * Exchanges the refresh token for new tokens, once for all tabs. `stale` is the session that needs renewal; if
   * another tab has replaced it meanwhile, that tab's session is returned and nothing is sent. Null if the server has
   * said that the session is over. Throws SvcError, and keeps the session, if the server could not be asked.
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

  /** Runs `act` while nothing else changes the session, in any tab. `hasWaited`: another tab may just have done so. */
  alone<T>(act: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const { lockName, storage, surroundings } = this.#options;
    return exclusive(lockName, storage, surroundings, act);
  }

  /** Runs `open`, stores the session that it opens and returns its user. Nothing else changes the session meanwhile. */
  signIn(open: () => Promise<TokenResponse>): Promise<TokenUser> {
    return this.alone(async () => this.accept(await open()));
  }

  /** Stores the session of a token response. Only work that `alone` runs may call it. */
  async accept(data: TokenResponse): Promise<TokenUser> {
    const session = this.#sessionOf(data);
    await this.#options.sessions.save(session);
    return session.user;
  }

  /** Runs `end`, which ends the session on the server, and forgets it here. If `end` throws, the session stays. */
  signOut(end: (session: Known) => Promise<unknown>): Promise<void> {
    const { sessions } = this.#options;
    return this.alone(async () => {
      const session = await sessions.load();
      await end(session);
      await this.#replace(session, null);
    });
  }

  /** The body with the refresh token. Undefined without a session, and in cookie mode: the browser sends the token. */
  refreshBody(session: Known): { readonly refresh_token: string } | undefined {
    return session?.tokens ? { refresh_token: session.tokens.refresh } : undefined;
  }

  #refresh(stamp: string | undefined): Promise<Known> {
    const { send, sessions, graceMs, surroundings } = this.#options;
    return this.alone(async (hasWaited) => {
      let current = await sessions.load();
      if (hasWaited && current?.stamp === stamp) {
        // Another tab has just held the lock. Its session may become visible here only a moment after that.
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

  /**
   * Stores `next` in place of `current`, and returns the session that is then stored. If another session has replaced
   * `current` meanwhile, which happens only if the lock did not work, that one stays.
   */
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
   * Returns the session, renewed if its access token is about to expire. If the server cannot be reached, it returns
   * the old session with the failure: the request is tried all the same, but a 401 then leads to no other refresh.
   */
  async #inTime(
    session: Known,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly session: Known; readonly failure: SvcError | null }> {
    if (!session || session.expiresAtMs - earlyMs > this.#options.surroundings.now()) return { session, failure: null };
    try {
      const renewed = await unlessAborted(this.refresh(session), signal);
      if (renewed && renewed.user.id !== session.user.id) throw somebodyElse();
      return { session: renewed, failure: null };
    } catch (error) {
      if (!(error instanceof SvcError && error.isTransient)) throw error;
      return { session, failure: error };
    }
  }

  /** Adds the session's credentials to a call, which throws if another user signs in before it is sent. */
  #of(session: Known, call: Call): Call {
    if (!session) return withSession(call, session);
    // A call may be sent more than once, and would carry the cookies of somebody else who has signed in meanwhile.
    const before = async () => {
      const now = await this.#options.sessions.load();
      if (now && now.user.id !== session.user.id) throw somebodyElse();
    };
    return { ...withSession(call, session), before };
  }

  /**
   * Whether renewing the session after a 401 may succeed: in cookie mode even without a known session, because the
   * browser may hold cookies of which this page has no record.
   */
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
  return new SvcError(401, "unauthorized", "whoever began this is not signed in any more");
}

/**
 * Adds the session's access token to a call; in cookie mode the browser sends it. Without a session it removes the
 * `Idempotency-Key`, because the server stores none for unknown callers.
 */
export function withSession(call: Call, session: Known): Call {
  if (!session) return { ...call, onceKey: undefined };
  return session?.tokens ? withBearer(call, session.tokens.access) : call;
}

function withBearer(call: Call, token: string): Call {
  return { ...call, headers: { ...call.headers, Authorization: `Bearer ${token}` } };
}
