import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fromBase64 } from "../encoding/base64.js";
import { isLoopbackHost } from "../http/loopback.js";
import { type Config, parseConfig } from "../project/config.js";
import { type Problem, ProblemsError } from "../project/problem.js";
import { parseRules } from "../project/rules/rules.js";
import { parseSchema, schemaFile } from "../project/schema.js";

/** A project as it lies in its directory. Relative paths in its files are relative to `directory`. */
export interface ProjectDirectory {
  readonly directory: string;
  readonly config: Config;
  /** svc.schema.yaml as it is written. */
  readonly schemaText: string;
}

/** Reads both files. Throws ProblemsError with every problem of both of them. */
export function readProject(directory: string): ProjectDirectory {
  const root = resolve(directory);
  const problems: Problem[] = [];
  const read = (file: string): string | null => {
    try {
      return readFileSync(join(root, file), "utf8");
    } catch (error) {
      problems.push({
        file,
        path: "",
        message: `cannot be read in ${root} (${(error as NodeJS.ErrnoException).code})`,
      });
      return null;
    }
  };
  const configText = read("svc.toml");
  const schemaText = read(schemaFile);
  const parsedConfig = configText === null ? null : parseConfig(configText);
  const parsedSchema = schemaText === null ? null : parseSchema(schemaText);
  problems.push(...(parsedConfig?.problems ?? []), ...(parsedSchema?.problems ?? []));
  const config = parsedConfig?.config;
  if (config && parsedSchema?.schema)
    problems.push(...parseRules(config.rules, parsedSchema.schema).problems);
  if (!config || schemaText === null || problems.length > 0) throw new ProblemsError(problems);
  return { directory: root, config, schemaText };
}

const secretBytesMin = 32;

export interface Secret {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** It is `auth.dev_secret`, which everybody can read. */
  readonly insecure: boolean;
}

/**
 * The project's secret (specification 5.3): from the environment, or the development secret while the server listens
 * on a loopback address. Throws ProblemsError where there is none, or a short one.
 */
export function readSecret({ auth }: Config, host: string, environment: NodeJS.ProcessEnv): Secret {
  const given = environment[auth.jwt_secret_env];
  if (given !== undefined && given !== "")
    return { bytes: longEnough(given, auth.jwt_secret_env), insecure: false };
  if (!auth.allow_insecure_dev_secret)
    throw problem("auth.jwt_secret_env", `the environment variable ${auth.jwt_secret_env} is not set`);
  if (!isLoopbackHost(host))
    throw problem(
      "auth.allow_insecure_dev_secret",
      `the development secret serves loopback addresses only, not ${host}: set ${auth.jwt_secret_env}`,
    );
  return { bytes: longEnough(auth.dev_secret, "auth.dev_secret"), insecure: true };
}

const secretsKeyVariable = "SVC_PLATFORM_SECRETS_KEY";
const secretsKeyBytes = 32;

/**
 * The key that provider credentials are sealed with (specification 5.6); null where the environment holds none. Throws
 * ProblemsError for anything but 32 bytes in base64.
 */
export function readSecretsKey(environment: NodeJS.ProcessEnv): Uint8Array<ArrayBuffer> | null {
  const text = environment[secretsKeyVariable];
  if (text === undefined || text === "") return null;
  const key = fromBase64(text);
  if (key?.length === secretsKeyBytes) return key;
  throw environmentProblem(
    secretsKeyVariable,
    `expected ${secretsKeyBytes} bytes in base64: node -e 'console.log(crypto.randomBytes(32).toString("base64"))' makes them`,
  );
}

const gatewayVariable = "SVC_GATEWAY_URL";

/**
 * The canonical address of the server without a slash at the end, from the environment or from svc.toml (interface,
 * section 2); null where neither says.
 */
export function configuredBaseUrl({ auth }: Config, environment: NodeJS.ProcessEnv): string | null {
  const gateway = environment[gatewayVariable];
  if (gateway === undefined || gateway === "")
    return auth.public_base_url === "" ? null : auth.public_base_url;
  const url = URL.canParse(gateway) ? new URL(gateway) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(gateway) || url.username !== "")
    throw environmentProblem(gatewayVariable, "expected an absolute http(s) URL without query and fragment");
  return url.href.replace(/\/+$/, "");
}

function environmentProblem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: "environment", path, message }]);
}

function longEnough(text: string, name: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length >= secretBytesMin) return bytes;
  throw problem(
    "auth",
    `${name} has ${bytes.length} bytes, and a secret has at least ${secretBytesMin}: node -e 'console.log(crypto.randomBytes(32).toString("base64"))' makes one`,
  );
}

function problem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: "svc.toml", path, message }]);
}
