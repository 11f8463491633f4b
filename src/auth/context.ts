import type { Refusal } from "../http/refusal.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { AuthSettings } from "../project/model.js";
import type { AccessTokens } from "./access-token.js";
import type { CheckedRow } from "./authenticate.js";
import type { LinkTokens } from "./links.js";
import type { MailAllowance } from "./mail-allowance.js";
import type { Providers } from "./oauth/providers.js";
import type { Caller } from "./principal.js";
import type { PasswordThrottle } from "./throttle.js";

/** What the handlers under /auth share. */
export interface AuthContext {
  readonly platform: Platform;
  readonly config: Config;
  readonly tokens: AccessTokens;
  /** The part of the refresh successors' key that the server knows. */
  readonly successorKey: Uint8Array<ArrayBuffer>;
  readonly throttle: PasswordThrottle;
  readonly mailAllowance: MailAllowance;
  readonly linkTokens: LinkTokens;
  /** Sends what is in the outbox, from the next tick on. */
  readonly deliverMail: () => void;
  /** The canonical address that the server is reached at, without a slash at the end. */
  readonly publicBaseUrl: string;
  readonly providers: Providers;
  /** From which the secrets of a social sign-in are derived. */
  readonly oauthStateKey: Uint8Array<ArrayBuffer>;
  /** `$auth` and `$origins` of the schema in force, which takes a query unless a `schemaVersionCheck` has just told its version. */
  readonly settings: (
    version?: CheckedRow,
  ) => Promise<(AuthSettings & { readonly origins: readonly string[] }) | Refusal>;
}

/** What a handler under /auth is given. */
export interface AuthRequest {
  readonly request: Request;
  readonly context: AuthContext;
  /** The client's, by `addressUnit`. */
  readonly address: string;
  /** The parameter of the path; empty where it has none. */
  readonly name: string;
}

/** For what depends on who calls. */
export interface CallerRequest extends AuthRequest {
  readonly caller: Caller;
}
