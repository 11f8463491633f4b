import type { HttpBindings } from "@hono/node-server";
import { announceConsole } from "../admin/console/announce.js";
import type { AppOptions } from "../assemble/app-options.js";
import { isPrivateAddress, lastForwarded } from "../http/client-address.js";
import { isLoopbackHost } from "../http/loopback.js";
import type { Log } from "../platform/platform.js";
import { parseListenAddress } from "../project/listen-address.js";
import { type Backend, openBackend } from "./backend.js";
import { consoleFiles } from "./console-files.js";
import { Listeners } from "./listeners.js";
import { drainMs } from "./listening.js";
import type { ProjectDirectory } from "./project-directory.js";
import { StderrLog } from "./stderr-log.js";
import { readSurroundings, type SurroundingsOptions } from "./surroundings.js";
import { systemClock } from "./system.js";

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
  /** Stops accepting requests, finishes those in flight (8 s at most), and closes the database, all within 10 s. */
  stop(): Promise<void>;
}

/**
 * Starts the server of a project, and resolves once it listens. Throws ProblemsError if the project's files or the
 * environment do not allow a start.
 */
export async function serve(project: ProjectDirectory, options: ServeOptions): Promise<RunningServer> {
  const { config } = project;
  const log = new StderrLog(config.log, systemClock);
  const found = readSurroundings(project, options);
  const { baseUrl, tls } = found;
  const backend = await openBackend(project, found, options.environment, log);
  const listeners = new Listeners(config, tls, log);
  try {
    // The app needs the servers' URLs, which for port 0 are not known before they listen.
    let app: Awaited<ReturnType<Backend["start"]>> | undefined;
    const consoleAddress = parseListenAddress(config.console.listen);
    const url = await listeners.listen(options, () => app?.fetch);
    const consoleUrl = consoleAddress && (await listeners.listen(consoleAddress, () => app?.consoleFetch));
    app = await backend.start({
      config: { ...config, server: { ...config.server, host: options.host, port: options.port } },
      clientAddress: clientAddress(config.server.trust_proxy, log),
      publicBaseUrl: baseUrl ?? url,
      reachedAt: baseUrl ?? options.host,
      consoleFiles: consoleFiles(options.consoleDirectory),
      consoleUrl,
      addHeader: (_, [name, value], env) => (env as HttpBindings).outgoing.setHeader(name, value),
    });
    const mayShowLink = process.stderr.isTTY || isLoopbackHost((consoleAddress ?? options).host);
    return {
      url,
      announce: async () => {
        const at = `${consoleUrl ?? baseUrl ?? url}/console`;
        if (config.console.enabled)
          await announceConsole(backend.platform, { url: at, mayShowLink, note: (text) => log.note(text) });
      },
      stop: () => backend.stop(performance.now() + drainMs, (endLongWork) => listeners.drained(endLongWork)),
    };
  } catch (error) {
    listeners.close();
    await backend.close();
    throw error;
  }
}

/**
 * A request's client address: the socket's, or the last entry of X-Forwarded-For if a proxy is trusted, because only
 * that entry is the proxy's own (`docs/reference/backends.md#where-runtimes-differ`). It warns once if a proxy seems to
 * stand in front of a server that does not trust it.
 */
function clientAddress(trustProxy: boolean, log: Log): AppOptions["clientAddress"] {
  let hasWarned = false;
  return ({ headers }, env) => {
    const socket = (env as HttpBindings).incoming.socket.remoteAddress ?? "unknown";
    const forwarded = headers.get("X-Forwarded-For");
    if (trustProxy) return lastForwarded(forwarded) ?? socket;
    if (!hasWarned && forwarded !== null && isPrivateAddress(socket)) {
      hasWarned = true;
      log.warn(
        `X-Forwarded-For comes from ${socket}, and server.trust_proxy is false: if a proxy of yours sends it, set that to true, or all clients count as one address`,
      );
    }
    return socket;
  };
}
