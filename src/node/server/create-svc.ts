import type { HttpBindings } from "@hono/node-server";
import { addHeader } from "../../http/respond.js";
import { addressBy, type HostEnv, svcOf } from "../../library/in-process.js";
import type { HostOptions, Svc } from "../../library/svc.js";
import { ProblemsError } from "../../problems/problem.js";
import type { Config } from "../../project/config.js";
import { parseListenAddress } from "../../project/listen-address.js";
import { listenUrl } from "../../project/listen-url.js";
import { builtDirectory } from "../built-directory.js";
import { consoleFiles } from "../console-files.js";
import { readProject } from "../project-directory.js";
import { Backend } from "./backend.js";
import { remoteAddress } from "./http2.js";
import { Listeners } from "./listeners.js";
import { drainMs } from "./listening.js";

export { SvcError, SvcPreconditionError } from "../../client/error.js";
export type { HostOptions, InProcessClient, Svc } from "../../library/svc.js";

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
  if (typeof options?.clientAddress !== "function")
    throw new TypeError("createSvc: expected the option clientAddress, a function of a request");
  const environment = { ...(options.environment ?? process.env) };
  const backend = await Backend.open(readProject(directory, directory, environment), {
    // Who listens is the host. The development secret serves loopback names alone, wherever that is.
    host: "127.0.0.1",
    port: 0,
    environment,
    adapt: (config) => withConsole(config, options.console),
  });
  const { host, port } = backend.project.config.server;
  const listeners = new Listeners(backend.project.config, null, backend.log);
  try {
    const consoleAddress = parseListenAddress(options.console ?? "");
    await backend.start({
      clientAddress: (_, env) =>
        "host" in (env as HostEnv | HttpBindings)
          ? addressBy(options, env as HostEnv)
          : remoteAddress((env as HttpBindings).incoming),
      publicBaseUrl: listenUrl(host, port, false),
      consoleFiles: consoleFiles(`${builtDirectory}/console`),
      consoleUrl: consoleAddress && (await listeners.listen(consoleAddress, backend.consoleFetch)),
      addHeader,
    });
  } catch (error) {
    listeners.close();
    await backend.close();
    throw error;
  }
  return svcOf(
    () => ({ ...backend.app!, fetch: backend.fetch }),
    () => backend.stop(performance.now() + drainMs, (endLongWork) => listeners.drained(endLongWork)),
  );
}

/** Without a console, unless the host gives it an address of its own. */
function withConsole(config: Config, address: string | undefined): Config {
  if (address === undefined) return { ...config, console: { ...config.console, enabled: false, listen: "" } };
  if (parseListenAddress(address) === null)
    throw new ProblemsError([{ file: "createSvc", path: "console", message: "expected host:port" }]);
  return { ...config, console: { ...config.console, enabled: true, listen: address } };
}
