import type { Reload, Surroundings } from "../admin/services.js";
import type { ProviderEndpoints } from "../auth/oauth/provider.js";
import type { Keyring } from "../encoding/keyring.js";
import type { ConsoleFiles } from "../platform/console-files.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { Planner } from "../schema/plan/planner.js";
import type { ReadRules } from "../schema/project-source.js";
import type { Lasting } from "./lasting.js";

/** What the entry module of a runtime passes to `createApp`. */
export interface AppOptions {
  readonly config: Config;
  readonly platform: Platform;
  /** The secrets from which all keys are derived. Each has at least 32 bytes. */
  readonly secrets: Keyring<Uint8Array<ArrayBuffer>>;
  /**
   * Whether the secret is the insecure one for development. Then only requests to a loopback address or `localhost` are
   * answered.
   */
  readonly loopbackOnly: boolean;
  /** Reads the svc.schema.yaml that was deployed with the server. */
  readonly readSchemaFile: () => Promise<string>;
  /** Reads the rules of svc.toml as it is now, where the runtime can. */
  readonly readRules?: ReadRules;
  /** Plans changes of the schema beside the event loop, where the runtime can; by default in it. */
  readonly planner?: Planner;
  /** The IP address that a request comes from. `env` is what the runtime passed with the request. */
  readonly clientAddress: (request: Request, env: unknown) => string;
  /**
   * The URL under which clients reach the server, without a slash at the end. Links in mails and callback URLs of
   * sign-in providers begin with it, never with a request's Host header, which the caller can choose.
   */
  readonly publicBaseUrl: string;
  /** For `GET /admin/api/settings`. */
  readonly surroundings: Surroundings;
  /** Null if the runtime serves the console's files by itself. */
  readonly consoleFiles: ConsoleFiles | null;
  /**
   * The URL of a separate address for the console and `/admin/api`, without a slash at the end; null if the main
   * address serves them. The app's `consoleFetch` answers requests to a separate address, and its `fetch` then has none
   * of these routes.
   */
  readonly consoleUrl: string | null;
  /**
   * Adds a header to a response. `env` is what the runtime passed with the request. Node sets the header on the
   * socket's response, because modifying the Response object costs a tenth of the time of reading a row.
   */
  readonly addHeader: (response: Response, header: readonly [name: string, value: string], env: unknown) => void;
  /** Answers requests to paths that are not the server's; null or a missing member for no such files. */
  readonly siteFiles?: ((request: Request) => Promise<Response | null>) | null;
  /** Reads the project's files again, where the runtime can. */
  readonly reload?: Reload;
  /** What an earlier app of the process leaves to this one. */
  readonly lasting?: Lasting;
  /** Only tests replace the URLs of sign-in providers. */
  readonly providerEndpoints?: ProviderEndpoints;
}
