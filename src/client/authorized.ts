import { SvcError } from "./error.js";
import { exclusive } from "./exclusive.js";
import type { Known, Session, Sessions, TokenUser } from "./session.js";
import type { SessionStorage, Surroundings } from "./surroundings.js";
import { type Answer, hedged, type Send } from "./transport.js";

/** `data` of the server's token response (specification, section 2). */
export interface TokenResponse {
  readonly user: TokenUser;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
}

export interface AuthorizedOptions {
  readonly send: Send;
  readonly sessions: Sessions;
  readonly storage: SessionStorage;
  /** Of the one refresh that runs at a time. */
  readonly lockName: string;
  readonly cookies: boolean;
  readonly apiKey: string | null;
  readonly surroundings: Surroundings;
}

/** An access token is renewed so long before its end. */
const earlyMs = 5_000;

/** Requests with the session's credentials, which renew themselves. */
export class Authorized {
  #refreshing: Promise<Session | null> | null = null;

  constructor(private readonly options: AuthorizedOptions) {}

  /**
   * Sends with the credentials that there are. A 401 renews the session and asks once more; what was asked for stays
   * undone until then, so that this is safe for writes too.
   */
  async send(call: Parameters<Send>[0]): Promise<Answer> {
    const { send, sessions, apiKey, surroundings } = this.options;
    if (apiKey !== null) return send(withBearer(call, apiKey));
    let session = await sessions.load();
    if (session && session.expiresAtMs - earlyMs <= surroundings.now())
      session = await this.#renewed(session);
    try {
      return await send(this.#with(session, call));
    } catch (error) {
      if (!(error instanceof SvcError && error.status === 401) || !this.#mayRenew(session)) throw error;
      const renewed = await this.refresh(session);
      if (renewed === null) throw error;
      return send(this.#with(renewed, call));
    }
  }

  /**
   * Rotates the refresh token, once for all tabs. `stale` is the session that was found wanting; where another tab has
   * renewed it meanwhile, that is enough. Null: signed out, as the server has confirmed. Throws SvcError where nobody
   * could say, and keeps the session.
   */
  refresh(stale: Known): Promise<Session | null> {
    this.#refreshing ??= this.#refreshAlone(stale).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** What a token response opens. */
  async accept({ user, access_token, refresh_token, expires_in }: TokenResponse): Promise<Session> {
    const { sessions, cookies, surroundings } = this.options;
    const session = {
      stamp: `${surroundings.now()} ${surroundings.random()}`,
      user,
      expiresAtMs: surroundings.now() + expires_in * 1000,
      tokens: cookies ? null : { access: access_token, refresh: refresh_token },
    };
    await sessions.save(session);
    return session;
  }

  /** Runs `act` while nothing renews the session in any tab. */
  alone<T>(act: () => Promise<T>): Promise<T> {
    const { lockName, storage, surroundings } = this.options;
    return exclusive(lockName, storage, surroundings, act);
  }

  /** The refresh token as a body; in cookie mode there is none, as the browser sends its cookie. */
  refreshBody(session: Known): { readonly refresh_token?: string } | undefined {
    return this.options.cookies ? undefined : { refresh_token: session?.tokens?.refresh ?? "" };
  }

  #refreshAlone(stale: Known): Promise<Session | null> {
    const { send, sessions, surroundings } = this.options;
    return this.alone(async () => {
      const current = await sessions.load();
      if (current?.stamp !== stale?.stamp) return current ?? null;
      try {
        const call = { method: "POST", path: "/auth/refresh", body: this.refreshBody(current) };
        const { data } = await hedged(send, surroundings)(call);
        return await this.accept(data);
      } catch (error) {
        if (!(error instanceof SvcError && error.status === 401 && error.code !== "unexpected_answer"))
          throw error;
        // Without a lock that holds, another tab may have been faster.
        const now = await sessions.load();
        if (now?.stamp !== current?.stamp) return now ?? null;
        await sessions.save(null);
        return null;
      }
    });
  }

  /** Before its access token ends. A server that cannot be reached is no reason not to try the request. */
  async #renewed(session: Session): Promise<Session | null> {
    try {
      return await this.refresh(session);
    } catch (error) {
      if (!(error instanceof SvcError && error.isTransient)) throw error;
      return session;
    }
  }

  /** In cookie mode the browser may hold a session that this page has not heard of. */
  #mayRenew(session: Known): boolean {
    return session === undefined ? this.options.cookies : session !== null;
  }

  #with(session: Known, call: Parameters<Send>[0]): Parameters<Send>[0] {
    return session?.tokens ? withBearer(call, session.tokens.access) : call;
  }
}

function withBearer(call: Parameters<Send>[0], token: string): Parameters<Send>[0] {
  return { ...call, headers: { ...call.headers, Authorization: `Bearer ${token}` } };
}
