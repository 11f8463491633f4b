import { fromBase64 } from "../encoding/base64.js";
import { isLoopbackHost } from "../http/loopback.js";
import { ProblemCollector, ProblemsError, shown } from "../problems/problem.js";
import type { Config } from "./config.js";
import { configFile } from "./file-names.js";

/**
 * Environment variables, or the variables and secrets of a Worker. An empty one counts as not set. The comment of each
 * variable is its row in docs/reference/configuration.md, which `npm run docs` writes.
 */
export interface Environment {
  /** The address to listen on, for `svc serve`. It takes precedence over `server.host`. */
  readonly HOST?: string | undefined;
  /** The port to listen on, for `svc serve` and `svc worker dev`. It takes precedence over `server.port`. */
  readonly PORT?: string | undefined;
  /**
   * The address at which clients reach the server, an absolute http(s) URL. It takes precedence over
   * `auth.public_base_url` and, unlike that, may have a path.
   */
  readonly SVC_GATEWAY_URL?: string | undefined;
  /** The key that seals the credentials of sign-in providers: 32 bytes in base64. */
  readonly SVC_PLATFORM_SECRETS_KEY?: string | undefined;
  /** On a Worker: Google's credentials, as `svc auth provider sealed google` prints them. */
  readonly SVC_AUTH_PROVIDER_GOOGLE?: string | undefined;
  /** On a Worker: Apple's credentials, as `svc auth provider sealed apple` prints them. */
  readonly SVC_AUTH_PROVIDER_APPLE?: string | undefined;
  /** On a Worker: GitHub's credentials, as `svc auth provider sealed github` prints them. */
  readonly SVC_AUTH_PROVIDER_GITHUB?: string | undefined;
  /**
   * Variables that svc.toml names: the value of a key such as `auth.jwt_secret_env` is the name of the variable to
   * read.
   */
  readonly [name: string]: string | undefined;
}

const secretBytesMin = 32;
const makesOne = `node -e 'console.log(crypto.randomBytes(32).toString("base64"))' makes one`;

/** The project's secret, from which the keys for tokens, cursors and the like are derived. */
export interface Secret {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the secret is `auth.dev_secret`, which everybody who has the file can read. */
  readonly insecure: boolean;
}

/**
 * Reads the project's secret from the environment, or else takes `auth.dev_secret` where that is allowed
 * (docs/reference/configuration.md#environment-variables). Throws ProblemsError where there is none or it is too
 * short.
 */
export function readSecret({ auth }: Config, environment: Environment): Secret {
  const given = environment[auth.jwt_secret_env];
  if (given !== undefined && given !== "")
    return { bytes: longEnough(given, "auth.jwt_secret_env", auth.jwt_secret_env), insecure: false };
  if (!auth.allow_insecure_dev_secret)
    throw problem(
      "auth.jwt_secret_env",
      `the environment variable ${auth.jwt_secret_env} is not set: it holds the secret that signs tokens; ${makesOne}`,
    );
  if (auth.dev_secret === "")
    throw problem(
      "auth.dev_secret",
      `not set, though auth.allow_insecure_dev_secret is: write ${secretBytesMin} characters or more, or set ${auth.jwt_secret_env} in the environment`,
    );
  return { bytes: longEnough(auth.dev_secret, "auth.dev_secret", "it"), insecure: true };
}

/**
 * Reads the secret that the current one replaces (docs/deploy.md#changing-the-secret); null where the variable is not
 * set. Throws ProblemsError with everything that is wrong with it: it is too short, it is the current one, or the
 * development secret is allowed beside it.
 */
export function readPreviousSecret({ auth }: Config, environment: Environment): Uint8Array<ArrayBuffer> | null {
  const path = "auth.jwt_previous_secret_env";
  const name = auth.jwt_previous_secret_env;
  const given = environment[name];
  if (given === undefined || given === "") return null;
  const collector = new ProblemCollector();
  const bytes = collector.read(() => longEnough(given, path, name));
  collector.read(() => {
    if (given === environment[auth.jwt_secret_env])
      throw problem(
        path,
        `${name} and ${auth.jwt_secret_env} hold the same secret: set the new one in ${auth.jwt_secret_env}`,
      );
  });
  collector.read(() => {
    if (auth.allow_insecure_dev_secret)
      throw problem(
        path,
        `${name} is set, though auth.allow_insecure_dev_secret is: remove allow_insecure_dev_secret, or unset ${name}`,
      );
  });
  collector.end();
  return bytes;
}

/**
 * Throws ProblemsError where the development secret would serve other hosts than loopback addresses. `host` is the
 * address to listen on.
 */
export function checkHostOfSecret({ auth }: Config, { insecure }: Secret, host: string): void {
  if (!insecure || isLoopbackHost(host)) return;
  throw problem(
    "auth.allow_insecure_dev_secret",
    `the development secret serves loopback addresses only, not ${host}: set ${auth.jwt_secret_env}`,
  );
}

const secretsKeyVariable = "SVC_PLATFORM_SECRETS_KEY";
const secretsKeyBytes = 32;

/**
 * Reads the key that provider credentials are sealed with (docs/guides/sign-in-providers.md); null where it is not
 * set. Throws ProblemsError for anything but 32 bytes in base64.
 */
export function readSecretsKey(environment: Environment): Uint8Array<ArrayBuffer> | null {
  const text = environment[secretsKeyVariable];
  if (text === undefined || text === "") return null;
  const key = fromBase64(text);
  if (key?.length === secretsKeyBytes) return key;
  throw environmentProblem(secretsKeyVariable, `expected ${secretsKeyBytes} bytes in base64: ${makesOne}`);
}

/** The port to listen on, from the environment; null where it is not set. Throws ProblemsError for no port. */
export function readPort({ PORT }: Environment): number | null {
  if (PORT === undefined || PORT === "") return null;
  const port = portOf(PORT);
  if (port === null) throw environmentProblem("PORT", `expected a number from 0 to 65535, got ${shown(PORT)}`);
  return port;
}

/** Null for a text that is no port. */
export function portOf(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
}

const gatewayVariable = "SVC_GATEWAY_URL";

/**
 * The canonical URL of the server, without a slash at the end, from the environment or else from svc.toml
 * (docs/reference/configuration.md); null where neither sets it. Throws ProblemsError where the variable is not such
 * a URL.
 */
export function configuredBaseUrl({ auth }: Config, environment: Environment): string | null {
  const gateway = environment[gatewayVariable];
  if (gateway === undefined || gateway === "") return auth.public_base_url === "" ? null : auth.public_base_url;
  const url = URL.canParse(gateway) ? new URL(gateway) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(gateway) || url.username !== "")
    throw environmentProblem(
      gatewayVariable,
      "expected an absolute http(s) URL such as https://api.example.com, without query and fragment",
    );
  return url.href.replace(/\/+$/, "");
}

function environmentProblem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: "environment", path, message }]);
}

function longEnough(text: string, path: string, name: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length >= secretBytesMin) return bytes;
  throw problem(path, `${name} has ${bytes.length} bytes, and a secret has at least ${secretBytesMin}: ${makesOne}`);
}

function problem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: configFile, path, message }]);
}
