import type { HttpBindings } from "@hono/node-server";
import { announceConsole } from "../../admin/console/announce.js";
import type { ReloadOutcome } from "../../admin/services.js";
import type { AppOptions } from "../../assemble/app-options.js";
import { isPrivateAddress, lastForwarded } from "../../http/client-address.js";
import { isLoopbackHost } from "../../http/loopback.js";
import type { Log } from "../../platform/platform.js";
import type { Config } from "../../project/config.js";
import { parseListenAddress } from "../../project/listen-address.js";
import { consoleFiles } from "../console-files.js";
import type { ProjectDirectory } from "../project-directory.js";
import type { SurroundingsOptions } from "../surroundings.js";
import { Backend } from "./backend.js";
import { remoteAddress } from "./http2.js";
import { Listeners } from "./listeners.js";
import { drainMs } from "./listening.js";

/** What a server needs besides its project. */
export interface ServeOptions extends SurroundingsOptions {
  /** In which the build has left the console's page. */
  readonly consoleDirectory: string;
}

/** A server that accepts requests at `url`. */
export interface RunningServer {
  readonly url: string;
  /** Prints where the console is, and how to make the first administrator. Prints nothing while the console is off. */
  announce(): Promise<void>;
  /** Takes the project's files over as they are now. */
  reload(): Promise<ReloadOutcome>;
  /** Stops accepting requests, finishes those in flight (8 s at most), and closes the database, all within 10 s. */
  stop(): Promise<void>;
}

/**
 * Starts the server of a project, and resolves once it listens. Throws ProblemsError if the project's files or the
 * environment do not allow a start.
 */
export async function serve(project: ProjectDirectory, options: ServeOptions): Promise<RunningServer> {
  const { host, port } = options;
  const backend = await Backend.open(project, { ...options, adapt: withoutConsoleBesidePages });
  const { log, found } = backend;
  const { config } = backend.project;
  const listeners = new Listeners(config, found.tls, log);
  try {
    const consoleAddress = parseListenAddress(config.console.listen);
    const url = await listeners.listen({ host, port }, backend.fetch);
    const consoleUrl = consoleAddress && (await listeners.listen(consoleAddress, backend.consoleFetch));
    await backend.start({
      clientAddress: clientAddress(() => backend.config.server.trust_proxy, log),
      reloaded: ({ tls }) => listeners.renewCertificate(tls),
      listens: { host, port },
      publicBaseUrl: url,
      consoleFiles: consoleFiles(options.consoleDirectory),
      consoleUrl,
      addHeader: (_, [name, value], env) => (env as HttpBindings).outgoing.setHeader(name, value),
    });
    const mayShowLink = process.stderr.isTTY || isLoopbackHost((consoleAddress ?? options).host);
    return {
      url,
      announce: async () => {
        const at = `${consoleUrl ?? found.baseUrl ?? url}/console`;
        if (config.console.enabled)
          await announceConsole(backend.platform, { url: at, mayShowLink, note: (text) => log.note(text) });
      },
      reload: () => backend.reload({ isDryRun: false, isAsked: false }),
      stop: () => backend.stop(performance.now() + drainMs, (endLongWork) => listeners.drained(endLongWork)),
    };
  } catch (error) {
    listeners.close();
    await backend.close();
    throw error;
  }
}

/**
 * Beside pages of the owner (`server.serve_dir`), the console needs an address of its own: else scripts of those pages
 * could use its session.
 */
function withoutConsoleBesidePages(config: Config): Config {
  if (config.server.serve_dir === "" || config.console.listen !== "") return config;
  return { ...config, console: { ...config.console, enabled: false } };
}

/**
 * A request's client address: the socket's, or the last entry of X-Forwarded-For if a proxy is trusted, because only
 * that entry is the proxy's own (`docs/reference/backends.md#where-runtimes-differ`). It warns once if a proxy seems to
 * stand in front of a server that does not trust it.
 */
function clientAddress(trustProxy: () => boolean, log: Log): AppOptions["clientAddress"] {
  let hasWarned = false;
  return ({ headers }, env) => {
    const socket = remoteAddress((env as HttpBindings).incoming);
    const forwarded = headers.get("X-Forwarded-For");
    if (trustProxy()) return lastForwarded(forwarded) ?? socket;
    if (!hasWarned && forwarded !== null && isPrivateAddress(socket)) {
      hasWarned = true;
      log.warn(
        `X-Forwarded-For comes from ${socket}, and server.trust_proxy is false: if a proxy of yours sends it, set that to true, or all clients count as one address`,
      );
    }
    return socket;
  };
}
