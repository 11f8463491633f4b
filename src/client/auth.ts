import type { Authorized, TokenResponse } from "./authorized.js";
import { SvcError } from "./error.js";
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

  constructor(
    private readonly send: Send,
    private readonly authorized: Authorized,
    private readonly sessions: Sessions,
    tabStorage: SessionStorage,
    key: string,
  ) {
    this.oauth = new OAuth(send, (tokens) => this.#signedIn(tokens), tabStorage, key);
  }

  /** The user of the session, as far as this device knows; null where nobody is signed in. Asks nobody. */
  async user(): Promise<TokenUser | null> {
    return (await this.sessions.load())?.user ?? null;
  }

  /** Calls back when somebody signs in or out, in this tab or another one, until what it gives is called. */
  onChange(listener: Listener): () => void {
    return this.sessions.listen(listener);
  }

  /** Signs in, or says that the address has to be confirmed first. */
  async register(credentials: Credentials): Promise<TokenUser | VerificationRequired> {
    const data: TokenResponse | VerificationRequired = await this.#post("/auth/register", credentials);
    return "verification_required" in data ? data : this.#signedIn(data);
  }

  login(credentials: Credentials): Promise<TokenUser> {
    return this.#opens("/auth/login", credentials);
  }

  /**
   * Ends the session on the server, then here. A server that cannot be reached is an error, and the session stays: a
   * token that nobody holds would live on.
   */
  async logout(): Promise<void> {
    await this.authorized.alone(async () => {
      const body = this.authorized.refreshBody(await this.sessions.load());
      try {
        await this.send({ method: "POST", path: "/auth/logout", body });
      } catch (error) {
        // It has ended before.
        if (!(error instanceof SvcError && error.status === 401 && error.code !== "unexpected_answer"))
          throw error;
      }
      await this.sessions.save(null);
    });
  }

  /** Rotates the refresh token now. Null: signed out. Calls do so by themselves when they have to. */
  async refresh(): Promise<TokenUser | null> {
    return (await this.authorized.refresh(await this.sessions.load()))?.user ?? null;
  }

  async me(): Promise<User> {
    const { data } = await this.authorized.send({ method: "GET", path: "/auth/me" });
    return (data as { readonly user: User }).user;
  }

  /** Every session ends, this one included: sign in again with the new password. */
  async changePassword(body: {
    readonly current_password: string;
    readonly password: string;
  }): Promise<void> {
    await this.authorized.send({ method: "POST", path: "/auth/password", body });
    await this.sessions.save(null);
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

  async #opens(path: string, body: Call["body"]): Promise<TokenUser> {
    return this.#signedIn(await this.#post(path, body));
  }

  async #signedIn(tokens: TokenResponse): Promise<TokenUser> {
    return (await this.authorized.accept(tokens)).user;
  }

  async #post<T>(path: string, body: Call["body"]): Promise<T> {
    const { data } = await this.send({ method: "POST", path, body });
    return data;
  }
}
