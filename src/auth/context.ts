import type { Keyring } from "../encoding/keyring.js";
import type { RequestBody } from "../http/body.js";
import type { Refusal } from "../http/refusal.js";
import type { Statements } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { AuthSettings } from "../project/model.js";
import type { Caller } from "./callers/principal.js";
import type { MailAllowance } from "./limits/mail-allowance.js";
import type { RequestAllowance } from "./limits/request-allowance.js";
import type { PasswordThrottle } from "./limits/throttle.js";
import type { LinkTokens } from "./links/links.js";
import type { Providers } from "./oauth/providers.js";
import type { AccessTokens } from "./sessions/access-token.js";

/** What the handlers under /auth share. */
export interface AuthContext {
  readonly platform: Platform;
  readonly config: Config;
  readonly tokens: AccessTokens;
  /**
   * The server's keys for encrypting the successor of a refresh token (the new token that replaces it). `sealSuccessor`
   * and `openSuccessor` derive the key that they use from one of these and from the token that is replaced.
   */
  readonly successorKeys: Keyring<Uint8Array<ArrayBuffer>>;
  readonly throttle: PasswordThrottle;
  readonly mailAllowance: MailAllowance;
  readonly requestAllowance: RequestAllowance;
  readonly linkTokens: LinkTokens;
  /** Makes the mails in the outbox be sent at the next full second (`platform/tick.ts`). It returns at once. */
  readonly deliverMail: () => void;
  /** The URL under which clients reach the server, without a slash at the end. */
  readonly publicBaseUrl: string;
  readonly providers: Providers;
  /** The keys that `flowSecrets` derives the secrets of a social sign-in from. */
  readonly oauthStateKeys: Keyring<Uint8Array<ArrayBuffer>>;
  /**
   * Returns the sections `$auth` and `$origins` of the schema in force; a refusal where no schema can be served. To
   * know the version in force it asks the database, unless the caller passes the version that it has just read.
   */
  readonly settings: (
    version?: number | null,
  ) => Promise<(AuthSettings & { readonly origins: readonly string[] }) | Refusal>;
}

/** What a handler under /auth is given. */
export interface AuthRequest {
  readonly request: Request;
  readonly body: RequestBody;
  readonly context: AuthContext;
  /** The client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`). */
  readonly address: string;
  /** The parameter in the path, such as the provider's name or an id; empty where the path has none. */
  readonly name: string;
}

/** What a handler under /auth is given if its answer depends on the caller. */
export interface CallerRequest extends AuthRequest {
  readonly caller: Caller;
}

/**
 * What a handler under /auth is given if its answer depends on the caller and it reads no body. Its first statements
 * are sent along with the check of the caller (`Callers.run`).
 */
export interface IdentifiedRequest extends CallerRequest {
  readonly database: Statements;
}
