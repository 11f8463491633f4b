import { type Authorized, type TokenResponse, withSession } from "./authorized.js";
import { isRejectedToken } from "./error.js";
import { OAuth } from "./oauth.js";
import type { Listener, Sessions, TokenUser } from "./session.js";
import type { SessionStorage } from "./surroundings.js";
import type { Call, Send } from "./transport.js";

/** What registers or signs in a user. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The user as `GET /auth/me` returns it. */
export interface User extends TokenUser {
  readonly disabled: boolean;
  readonly email_verified: boolean;
  readonly created_at: string;
}

/** The answer of `POST /auth/register` where addresses have to be confirmed first: there is no session yet. */
export interface VerificationRequired {
  readonly verification_required: true;
  readonly user: TokenUser;
  readonly verification_expires_in: number;
}

/** The endpoints under `/auth` (`docs/reference/auth.md`). A method whose call fails throws SvcError. */
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

  /** The user who is signed in, as far as this device knows; null where nobody is. Sends no request. */
  async user(): Promise<TokenUser | null> {
    return (await this.#sessions.load())?.user ?? null;
  }

  /**
   * Calls `listener` when somebody signs in or out, in this tab or, with a shared storage, in another one. Returns a
   * function that ends this. It is not called for a session that exists already: see `user`.
   */
  onChange(listener: Listener): () => void {
    return this.#sessions.listen(listener);
  }

  /**
   * Registers a user and signs in. Where the address has to be confirmed first, it returns VerificationRequired
   * instead.
   */
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
   * Ends the session on the server and then here. If the server cannot be reached it throws and the session stays,
   * because the refresh token would otherwise remain valid on the server.
   */
  logout(): Promise<void> {
    return this.#authorized.signOut(async (session) => {
      if (session === null) return;
      try {
        await this.#post("/auth/logout", this.#authorized.refreshBody(session));
      } catch (error) {
        // The server has refused the refresh token, so the session had already ended there.
        if (!isRejectedToken(error)) throw error;
      }
    });
  }

  /**
   * Rotates the refresh token now; null where nobody is signed in any more. Usually not needed, because calls do it
   * by themselves.
   */
  async refresh(): Promise<TokenUser | null> {
    const session = await this.#sessions.load();
    if (session === null) return null;
    return (await this.#authorized.refresh(session))?.user ?? null;
  }

  async me(): Promise<User> {
    const { data } = await this.#authorized.send({ method: "GET", path: "/auth/me" });
    return (data as { readonly user: User }).user;
  }

  /** Changes the password. Ends every session of the user, this one included: sign in again with the new password. */
  async changePassword(body: {
    readonly current_password: string;
    readonly password: string;
  }): Promise<void> {
    // This call renews the session if necessary. During `signOut` below the session is locked and cannot be renewed.
    await this.me();
    await this.#authorized.signOut((session) =>
      this.#send(withSession({ method: "POST", path: "/auth/password", body }, session)),
    );
  }

  async resendVerification(email: string): Promise<void> {
    await this.#post("/auth/email-verification/resend", { email });
  }

  /** Confirms the address with the `token` of the mailed link, and signs in. */
  confirmEmail(token: string): Promise<TokenUser> {
    return this.#opens("/auth/email-verification/confirm", { token });
  }

  /** Accepts an invitation with the `token` of the mailed link: sets the password and signs in. */
  acceptInvitation(body: { readonly token: string; readonly password: string }): Promise<TokenUser> {
    return this.#opens("/auth/invitations/accept", body);
  }

  async requestPasswordReset(email: string): Promise<void> {
    await this.#post("/auth/password-reset/request", { email });
  }

  /** Sets a new password with the `token` of the mailed link. Every session of the user ends. */
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
