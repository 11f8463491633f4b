import type { UserSession } from "../wire/sessions.js";
import type { TokenUser, User } from "../wire/users.js";
import { type Authorized, type TokenResponse, withSession } from "./authorized.js";
import { isRejectedToken } from "./error.js";
import { OAuth } from "./oauth.js";
import type { SessionListener, Sessions } from "./session.js";
import type { SessionStorage } from "./surroundings.js";
import type { Call, Send } from "./transport.js";

/** What a user registers or signs in with. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The answer of `POST /auth/register` if addresses have to be confirmed first: there is no session yet. */
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

  constructor(send: Send, authorized: Authorized, sessions: Sessions, tabStorage: SessionStorage, key: string) {
    this.#send = send;
    this.#authorized = authorized;
    this.#sessions = sessions;
    this.oauth = new OAuth(send, (open) => authorized.signIn(open), tabStorage, key);
  }

  /** The user who is signed in, as far as this device knows; null if nobody is. Sends no request. */
  async user(): Promise<TokenUser | null> {
    return (await this.#sessions.load())?.user ?? null;
  }

  /**
   * Calls `listener` when somebody signs in or out in this tab or, with a shared storage, in another one. It is not
   * called for a session that exists already: see `user`. Returns a function that ends this.
   */
  onChange(listener: SessionListener): () => void {
    return this.#sessions.listen(listener);
  }

  /** Registers a user and signs in. Returns VerificationRequired instead if the address has to be confirmed first. */
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
   * Ends the session on the server and then here. Throws if the server cannot be reached: the session then stays,
   * because its refresh token would remain valid on the server.
   */
  logout(): Promise<void> {
    return this.#authorized.signOut(async (session) => {
      if (session === null) return;
      try {
        await this.#post("/auth/logout", this.#authorized.refreshBody(session));
      } catch (error) {
        // If the server refuses the refresh token, the session has already ended there.
        if (!isRejectedToken(error)) throw error;
      }
    });
  }

  /** Renews the session's tokens now; null if nobody is signed in any more. Usually not needed: calls renew them. */
  async refresh(): Promise<TokenUser | null> {
    const session = await this.#sessions.load();
    if (session === null) return null;
    return (await this.#authorized.refresh(session))?.user ?? null;
  }

  async me(): Promise<User> {
    return (await this.#as<{ readonly user: User }>("GET", "/auth/me")).user;
  }

  /** The user's sessions that have not ended, the last used first. */
  sessions(): Promise<readonly UserSession[]> {
    return this.#as("GET", "/auth/sessions");
  }

  /** Ends the session with this id on the server. For this device's use `logout`, which also forgets it here. */
  async endSession(id: string): Promise<void> {
    await this.#as("DELETE", `/auth/sessions/${encodeURIComponent(id)}`);
  }

  /** Changes the password. Ends every session of the user, this one included: sign in again with the new one. */
  async changePassword(body: { readonly current_password: string; readonly password: string }): Promise<void> {
    await this.#ends({ method: "POST", path: "/auth/password", body });
  }

  /**
   * Mails a link to `email`, which is to be the user's new address, and returns for how many seconds it is valid. Takes
   * the user's password; a user without one must have signed in within the last five minutes.
   */
  async changeEmail(body: { readonly email: string; readonly password?: string }): Promise<number> {
    type Accepted = { readonly verification_expires_in: number };
    return (await this.#as<Accepted>("POST", "/auth/email", body)).verification_expires_in;
  }

  /**
   * Changes the user's email address with the `token` of the link from `changeEmail`. Of the user's sessions only the
   * one that called `changeEmail` stays. If that is this device's, its tokens are renewed, because they name the old
   * address.
   */
  async confirmEmailChange(token: string): Promise<void> {
    await this.#post("/auth/email/confirm", { token });
    if (await this.user()) await this.refresh().catch(() => null);
  }

  /**
   * Deletes the user's account. Takes the user's password; a user without one must have signed in within the last five
   * minutes. Throws SvcError with status 409 if rows that refer to the user forbid it, and for the last administrator
   * who can sign in: the account then stays.
   */
  async deleteAccount(body: { readonly password?: string } = {}): Promise<void> {
    await this.#ends({ method: "DELETE", path: "/auth/me", body });
  }

  async resendVerification(email: string): Promise<void> {
    await this.#post("/auth/email-verification/resend", { email });
  }

  /** Confirms the user's email address with the `token` of the mailed link, and signs in. */
  confirmEmail(token: string): Promise<TokenUser> {
    return this.#opens("/auth/email-verification/confirm", { token });
  }

  /** Accepts an invitation with the `token` of the mailed link: sets the user's password and signs in. */
  acceptInvitation(body: { readonly token: string; readonly password: string }): Promise<TokenUser> {
    return this.#opens("/auth/invitations/accept", body);
  }

  async requestPasswordReset(email: string): Promise<void> {
    await this.#post("/auth/password-reset/request", { email });
  }

  /** Sets a new password with the `token` of the mailed link. Ends every session of the user, and opens none. */
  async confirmPasswordReset(body: { readonly token: string; readonly password: string }): Promise<void> {
    await this.#post("/auth/password-reset/confirm", body);
  }

  #opens(path: string, body: Call["body"]): Promise<TokenUser> {
    return this.#authorized.signIn(() => this.#post(path, body));
  }

  /** Forgets the session here once the call has ended it on the server. */
  async #ends(call: Call): Promise<void> {
    // `me` renews the session if necessary. While `signOut` runs, the session is locked and cannot be renewed.
    await this.me();
    await this.#authorized.signOut((session) => this.#send(withSession(call, session)));
  }

  async #as<T>(method: string, path: string, body?: Call["body"]): Promise<T> {
    return (await this.#authorized.send({ method, path, body })).data as T;
  }

  async #post<T>(path: string, body: Call["body"]): Promise<T> {
    return (await this.#send({ method: "POST", path, body })).data as T;
  }
}
