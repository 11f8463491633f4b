import type { Surroundings } from "../admin/services.js";
import type { ProviderEndpoints } from "../auth/oauth/provider.js";
import type { Keyring } from "../encoding/keyring.js";
import type { ConsoleFiles } from "../platform/console-files.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";

/** What the entry module of a runtime (Node or Workers) passes to `createApp`. */
export interface AppOptions {
  readonly config: Config;
  readonly platform: Platform;
  /**
   * The server's secret, from which all keys are derived, and while it is being changed, the previous one, too. Each
   * has at least 32 bytes.
   */
  readonly secrets: Keyring<Uint8Array<ArrayBuffer>>;
  /**
   * Whether the server's secret is the insecure one for development. Then only requests are answered whose host is a
   * loopback address or `localhost`.
   */
  readonly loopbackOnly: boolean;
  /** Reads the text of the svc.schema.yaml that was deployed with the server. */
  readonly readSchemaFile: () => Promise<string>;
  /**
   * Returns the IP address that a request comes from, as the runtime knows it. `env` is what the runtime passed along
   * with the request.
   */
  readonly clientAddress: (request: Request, env: unknown) => string;
  /**
   * The URL under which clients reach the server, without a slash at the end. Links in mails and callback URLs of
   * sign-in providers begin with it, never with a request's Host header, which the caller can choose.
   */
  readonly publicBaseUrl: string;
  /** The runtime, and which environment variables are set, as `GET /admin/api/settings` shows them. */
  readonly surroundings: Surroundings;
  /** The files of the console (the web page for administrators); null where the runtime serves them by itself. */
  readonly consoleFiles: ConsoleFiles | null;
  /**
   * The URL of a separate address that serves the console and `/admin/api`, without a slash at the end; null where the
   * main address serves them. Requests to a separate address are answered by the app's `consoleFetch`, and the app's
   * `fetch` then has none of these routes.
   */
  readonly consoleUrl: string | null;
  /**
   * Adds a header to a response. `env` is what the runtime passed along with the request. Under Node, the header is set
   * on the socket's response, because modifying the Response object costs a tenth of the time of reading a row.
   */
  readonly addHeader: (
    response: Response,
    header: readonly [name: string, value: string],
    env: unknown,
  ) => void;
  /** Replaces the URLs of sign-in providers; only tests set it. */
  readonly providerEndpoints?: ProviderEndpoints;
}
