import type { Keyring } from "../encoding/keyring.js";
import type { Refusal } from "../http/refusal.js";
import type { Statements } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { AuthSettings } from "../project/model.js";
import type { AccessTokens } from "./access-token.js";
import type { CheckedRow } from "./authenticate.js";
import type { LinkTokens } from "./links.js";
import type { MailAllowance } from "./mail-allowance.js";
import type { Providers } from "./oauth/providers.js";
import type { Caller } from "./principal.js";
import type { RequestAllowance } from "./request-allowance.js";
import type { PasswordThrottle } from "./throttle.js";

/** What the handlers under /auth share. */
export interface AuthContext {
  readonly platform: Platform;
  readonly config: Config;
  readonly tokens: AccessTokens;
  /**
   * The server's keys for encrypting the successor of a refresh token: `sealSuccessor` and `openSuccessor` derive the
   * key from one of these and the token itself.
   */
  readonly successorKeys: Keyring<Uint8Array<ArrayBuffer>>;
  readonly throttle: PasswordThrottle;
  readonly mailAllowance: MailAllowance;
  readonly requestAllowance: RequestAllowance;
  readonly linkTokens: LinkTokens;
  /**
   * Lets the mails in the outbox be sent from the next full second on (`platform/tick.ts`), without waiting for that.
   */
  readonly deliverMail: () => void;
  /** The canonical URL of the server, without a slash at the end. */
  readonly publicBaseUrl: string;
  readonly providers: Providers;
  /** The keys that `flowSecrets` derives the secrets of a social sign-in from. */
  readonly oauthStateKeys: Keyring<Uint8Array<ArrayBuffer>>;
  /**
   * `$auth` and `$origins` of the schema in force; a refusal where no schema can be served. The schema's version is
   * read from the database, unless the caller passes the row of a `schemaVersionCheck` that has just been made.
   */
  readonly settings: (
    version?: CheckedRow,
  ) => Promise<(AuthSettings & { readonly origins: readonly string[] }) | Refusal>;
}

/** What a handler under /auth is given. */
export interface AuthRequest {
  readonly request: Request;
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
 * What a handler under /auth is given if it reads no body: its first statements also check the caller (`Callers.run`).
 */
export interface IdentifiedRequest extends CallerRequest {
  readonly database: Statements;
}
