import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
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
import { sitePlaceProblem } from "./site-place.js";
import { systemClock, systemFetch } from "./system.js";

/** What a start depends on besides the project. */
export interface SurroundingsOptions {
  /** The address that the server listens on. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly environment: NodeJS.ProcessEnv;
}

/** What `readSurroundings` has found. */
export type FoundSurroundings = ReturnType<typeof readSurroundings>;

/**
 * Reads what a start needs besides the project's files: secrets and URLs from the environment, the mail transport, TLS
 * files. Throws ProblemsError with everything that is missing or wrong.
 */
export function readSurroundings(project: ProjectDirectory, { host, port, environment }: SurroundingsOptions) {
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
  const place = config.server.serve_dir === "" ? null : sitePlaceProblem(project);
  if (place !== null) collector.add({ file: configFile, path: "server.serve_dir", message: place });
  const { listen } = config.console;
  const consoleAddress = parseListenAddress(listen);
  if (port !== 0 && consoleAddress?.port === port && consoleAddress.host === host)
    collector.add({ file: configFile, path: "console.listen", message: `the server itself listens at ${listen}` });
  if (collector.problems.length > 0) throw new ProblemsError(withConfigLines(project, collector.problems));
  return found;
}

/** Null if the server speaks plain HTTP. */
function readTls({ config: { server }, directory }: ProjectDirectory, collector: ProblemCollector) {
  if (server.tls_cert === "") return null;
  const read = (key: "tls_cert" | "tls_key") => collector.read(() => readPem(directory, server[key], key));
  const [cert, key] = [read("tls_cert"), read("tls_key")];
  if (cert === null || key === null) return null;
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { reason, message } = error as Error & { readonly reason?: string };
    collector.add({
      file: configFile,
      path: "server.tls_cert",
      message: `${server.tls_cert} and ${server.tls_key} are not a certificate and its key, both in PEM (${reason ?? message})`,
    });
  }
  return { cert, key };
}

function readPem(directory: string, path: string, key: "tls_cert" | "tls_key"): Buffer {
  try {
    return readFileSync(resolve(directory, path));
  } catch (error) {
    const message = `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new ProblemsError([{ file: configFile, path: `server.${key}`, message }]);
  }
}
