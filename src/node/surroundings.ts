import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ProblemCollector, ProblemsError } from "../problems/problem.js";
import {
  checkHostOfSecret,
  configuredBaseUrl,
  readPreviousSecret,
  readSecret,
  readSecretsKey,
} from "../project/environment.js";
import { configFile } from "../project/file-names.js";
import { parseListenAddress } from "../project/listen-address.js";
import { mailTransport } from "./mail/mail-transport.js";
import { type ProjectDirectory, withConfigLines } from "./project-directory.js";
import { systemClock, systemFetch } from "./system.js";

/** What a start depends on besides the project. */
export interface SurroundingsOptions {
  /** The address that the server listens on. */
  readonly host: string;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Reads what a start needs besides the project's files: secrets and URLs from the environment, the mail transport, TLS
 * files. Throws ProblemsError with everything that is missing or wrong.
 */
export function readSurroundings(project: ProjectDirectory, { host, environment }: SurroundingsOptions) {
  const { config, directory } = project;
  const collector = new ProblemCollector();
  const found = {
    secret: collector.read(() => {
      const secret = readSecret(config, environment);
      for (const each of [host, parseListenAddress(config.console.listen)?.host ?? host])
        checkHostOfSecret(config, secret, each);
      return secret;
    })!,
    previousSecret: collector.read(() => readPreviousSecret(config, environment)),
    secretsKey: collector.read(() => readSecretsKey(environment)),
    baseUrl: collector.read(() => configuredBaseUrl(config, environment)),
    mail: collector.read(() =>
      mailTransport(config, {
        directory,
        environment,
        clock: systemClock,
        fetch: systemFetch,
        // Standard output is reserved for the line that says where the server listens.
        print: (text) => console.error(text),
      }),
    )!,
    tls: readTls(project, collector),
  };
  if (collector.problems.length > 0) throw new ProblemsError(withConfigLines(project, collector.problems));
  return found;
}

/** Null if the server speaks plain HTTP. */
function readTls({ config: { server }, directory }: ProjectDirectory, collector: ProblemCollector) {
  if (server.tls_cert === "") return null;
  const read = (key: "tls_cert" | "tls_key") => collector.read(() => readPem(directory, server[key], key))!;
  return { cert: read("tls_cert"), key: read("tls_key") };
}

function readPem(directory: string, path: string, key: "tls_cert" | "tls_key"): Buffer {
  try {
    return readFileSync(resolve(directory, path));
  } catch (error) {
    const message = `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new ProblemsError([{ file: configFile, path: `server.${key}`, message }]);
  }
}
