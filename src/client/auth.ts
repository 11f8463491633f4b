import { type Authorized, type TokenResponse, withSession } from "./authorized.js";
import { isRejectedToken } from "./error.js";
import { OAuth } from "./oauth.js";
import type { Listener, Sessions, TokenUser } from "./session.js";
import type { SessionStorage } from "./surroundings.js";
import type { Call, Send } from "./transport.js";

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** `GET /auth/me`. */
export interface User extends TokenUser {
  readonly disabled: boolean;
  readonly email_verified: boolean;
  readonly created_at: string;
}

/** `POST /auth/register` where addresses have to be confirmed first: there is no session yet. */
export interface VerificationRequired {
  readonly verification_required: true;
  readonly user: TokenUser;
  readonly verification_expires_in: number;
}

/** `/auth` (specification 4.1). Every method throws SvcError. */
export class Auth {
  readonly oauth: OAuth;
  readonly #send: Send;
  readonly #authorized: Authorized;
  readonly #sessions: Sessions;

  constructor(
    send: Send,
    authorized: Authorized,
    sessions: Sessions,
    tabStorage: SessionStorage,
    key: string,
  ) {
    this.#send = send;
    this.#authorized = authorized;
    this.#sessions = sessions;
    this.oauth = new OAuth(send, (open) => authorized.signIn(open), tabStorage, key);
  }

  /** The user of the session, as far as this device knows; null where nobody is signed in. Asks nobody. */
  async user(): Promise<TokenUser | null> {
    return (await this.#sessions.load())?.user ?? null;
  }

  /**
   * Calls back when somebody signs in or out, in this tab or, where the storage is shared, in another one, until what it
   * gives is called. Who is signed in already is told by `user`.
   */
  onChange(listener: Listener): () => void {
    return this.#sessions.listen(listener);
  }

  /** Signs in, or says that the address has to be confirmed first. */
  register({ email, password }: Credentials): Promise<TokenUser | VerificationRequired> {
    return this.#authorized.alone(async () => {
      const body = { email, password };
      const data = await this.#post<TokenResponse | VerificationRequired>("/auth/register", body);
      return "verification_required" in data ? data : this.#authorized.accept(data);
    });
  }

  login({ email, password }: Credentials): Promise<TokenUser> {
    return this.#opens("/auth/login", { email, password });
  }

  /**
   * Ends the session on the server, then here. A server that cannot be reached is an error, and the session stays: a
   * token that nobody holds would live on.
   */
  logout(): Promise<void> {
    return this.#authorized.signOut(async (session) => {
      if (session === null) return;
      try {
        await this.#post("/auth/logout", this.#authorized.refreshBody(session));
      } catch (error) {
        // It has ended before.
        if (!isRejectedToken(error)) throw error;
      }
    });
  }

  /** Rotates the refresh token now. Null: signed out. Calls do so by themselves when they have to. */
  async refresh(): Promise<TokenUser | null> {
    const session = await this.#sessions.load();
    if (session === null) return null;
    return (await this.#authorized.refresh(session))?.user ?? null;
  }

  async me(): Promise<User> {
    const { data } = await this.#authorized.send({ method: "GET", path: "/auth/me" });
    return (data as { readonly user: User }).user;
  }

  /** Every session ends, this one included: sign in again with the new password. */
  async changePassword(body: {
    readonly current_password: string;
    readonly password: string;
  }): Promise<void> {
    // Renews the session where it has to, which nothing does while it is ended.
    await this.me();
    await this.#authorized.signOut((session) =>
      this.#send(withSession({ method: "POST", path: "/auth/password", body }, session)),
    );
  }

  async resendVerification(email: string): Promise<void> {
    await this.#post("/auth/email-verification/resend", { email });
  }

  /** `token` of the link in the mail. Signs in. */
  confirmEmail(token: string): Promise<TokenUser> {
    return this.#opens("/auth/email-verification/confirm", { token });
  }

  /** `token` of the link in the mail. Sets the password, and signs in. */
  acceptInvitation(body: { readonly token: string; readonly password: string }): Promise<TokenUser> {
    return this.#opens("/auth/invitations/accept", body);
  }

  async requestPasswordReset(email: string): Promise<void> {
    await this.#post("/auth/password-reset/request", { email });
  }

  /** Sets the password; every session of the user ends. */
  async confirmPasswordReset(body: { readonly token: string; readonly password: string }): Promise<void> {
    await this.#post("/auth/password-reset/confirm", body);
  }

  #opens(path: string, body: Call["body"]): Promise<TokenUser> {
    return this.#authorized.signIn(() => this.#post(path, body));
  }

  async #post<T>(path: string, body: Call["body"]): Promise<T> {
    return (await this.#send({ method: "POST", path, body })).data as T;
  }
}
