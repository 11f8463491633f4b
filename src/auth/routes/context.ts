import type { Refusal } from "../../http/refusal.js";
import type { Platform } from "../../platform/platform.js";
import type { Config } from "../../project/config.js";
import type { AuthSettings } from "../../project/model.js";
import type { AccessTokens } from "../access-token.js";
import type { PasswordThrottle } from "../throttle.js";

/** What the handlers under /auth share. */
export interface AuthContext {
  readonly platform: Platform;
  readonly config: Config;
  readonly tokens: AccessTokens;
  /** The part of the refresh successors' key that the server knows. */
  readonly successorKey: Uint8Array<ArrayBuffer>;
  readonly throttle: PasswordThrottle;
  /** `$auth` of the schema in force. */
  readonly settings: () => Promise<AuthSettings | Refusal>;
}
