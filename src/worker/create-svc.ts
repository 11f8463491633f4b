import { addressBy, type HostEnv, svcOf } from "../library/in-process.js";
import type { HostOptions, Svc } from "../library/svc.js";
import { makeApp, type WorkerProject } from "./worker.js";

export { SvcError, SvcPreconditionError } from "../client/error.js";
export type { HostOptions, InProcessClient, Svc } from "../library/svc.js";

/** Options of `createSvc` on Workers. */
export interface SvcOptions extends HostOptions {
  /** What the runtime passes to the host: the D1 database `DB`, variables and secrets. */
  readonly env: object;
}

/**
 * Opens a project for a Worker of your own, which serves HTTP itself (`docs/guides/functions.md`). Call it in the first
 * request, and keep what it returns. Rejects with an error whose message has a line for each problem of the settings.
 * There is no console.
 * @param project the default export of `.svc/worker/modules/project.js`, which `svc worker build` writes
 */
export async function createSvc(project: object, options: SvcOptions): Promise<Svc> {
  const { config, schemaText } = project as WorkerProject;
  const withoutConsole = { ...config, console: { ...config.console, enabled: false } };
  const app = await makeApp(
    { config: withoutConsole, schemaText },
    options.env as Readonly<Record<string, unknown>>,
    (_, env) => addressBy(options, env as HostEnv),
  );
  return svcOf(
    () => app,
    async () => app.endStreams(),
  );
}
