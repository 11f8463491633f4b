import { Refusal } from "../http/refusal.js";
import { addHeader } from "../http/respond.js";
import { addressBy, createInProcess } from "../library/in-process.js";
import type { HostOptions, Svc } from "../library/svc.js";
import { ProblemsError } from "../problems/problem.js";
import type { Config } from "../project/config.js";
import { parseListenAddress } from "../project/listen-address.js";
import { listenUrl } from "../project/listen-url.js";
import { openBackend } from "./backend.js";
import { builtDirectory } from "./built-directory.js";
import { consoleFiles } from "./console-files.js";
import { InProgress } from "./in-progress.js";
import { Listeners } from "./listeners.js";
import { drainMs } from "./listening.js";
import { readProject } from "./project-directory.js";
import { StderrLog } from "./stderr-log.js";
import { readSurroundings } from "./surroundings.js";
import { systemClock } from "./system.js";

export { SvcError, SvcPreconditionError } from "../client/error.js";
export type { HostOptions, InProcessClient, Svc } from "../library/svc.js";

/** Options of `createSvc` under Node. */
export interface SvcOptions extends HostOptions {
  /**
   * Where the console listens, such as `127.0.0.1:8790`. Without it there is no console: its session would be within
   * reach of the host's pages.
   */
  readonly console?: string;
  /** The environment variables, by default those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens the project in `directory` for a program that serves HTTP itself (`docs/guides/functions.md`). It writes nothing
 * to standard output and installs no handlers on the process. Rejects with an error whose message has a line for each
 * problem of the project, or that says why the database cannot be opened.
 */
export async function createSvc(directory: string, options: SvcOptions): Promise<Svc> {
  const environment = { ...(options.environment ?? process.env) };
  const project = readProject(directory, directory, environment);
  const config = configFor(project.config, options.console);
  const log = new StderrLog(config.log, systemClock);
  // Who listens is the host. The development secret serves loopback names alone, wherever that is.
  const found = readSurroundings({ ...project, config }, { host: "127.0.0.1", port: 0, environment });
  const backend = await openBackend({ ...project, config }, found, environment, log);
  const listeners = new Listeners(config, null, log);
  try {
    let app: Awaited<ReturnType<typeof backend.start>> | undefined;
    const consoleAddress = parseListenAddress(config.console.listen);
    const consoleUrl = consoleAddress && (await listeners.listen(consoleAddress, () => app?.consoleFetch));
    const { host, port } = config.server;
    const publicBaseUrl = found.baseUrl ?? listenUrl(host, port, false);
    const started = await backend.start({
      config,
      clientAddress: addressBy(options),
      publicBaseUrl,
      reachedAt: found.baseUrl ?? host,
      consoleFiles: consoleFiles(`${builtDirectory}/console`),
      consoleUrl,
      addHeader,
    });
    app = started;
    const inProgress = new InProgress();
    let closed: Promise<void> | undefined;
    const answer: typeof started.fetch = (request, env) =>
      closed === undefined ? inProgress.during(async () => started.fetch(request, env)) : stopped.toResponse();
    return {
      fetch: async (request) => answer(request, { host: request }),
      upkeep: () => started.upkeep.due(),
      ...createInProcess({ ...started, fetch: answer }),
      close: () => {
        closed ??= backend.stop(performance.now() + drainMs, async (endLongWork) => {
          await Promise.all([inProgress.ended(endLongWork), listeners.drained(endLongWork)]);
        });
        return closed;
      },
    };
  } catch (error) {
    listeners.close();
    await backend.close();
    throw error;
  }
}

const stopped = new Refusal("unavailable", "the server has stopped");

/** Without a console, unless the host gives it an address of its own. */
function configFor(config: Config, address: string | undefined): Config {
  if (address === undefined) return { ...config, console: { ...config.console, enabled: false, listen: "" } };
  if (parseListenAddress(address) === null)
    throw new ProblemsError([{ file: "createSvc", path: "console", message: "expected host:port" }]);
  return { ...config, console: { ...config.console, enabled: true, listen: address } };
}
