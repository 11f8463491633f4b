import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ReloadOutcome } from "../../admin/services.js";
import { createApp } from "../../app.js";
import type { AppOptions } from "../../assemble/app-options.js";
import { isLoopbackHost } from "../../http/loopback.js";
import { Refusal } from "../../http/refusal.js";
import type { Fetch } from "../../http/router.js";
import type { Log, Platform } from "../../platform/platform.js";
import { ProblemsError } from "../../problems/problem.js";
import type { Config } from "../../project/config.js";
import { configFile, schemaFile } from "../../project/file-names.js";
import type { ListenAddress } from "../../project/listen-address.js";
import { parseConfig } from "../../project/parse-config.js";
import type { ProjectDirectory } from "../project-directory.js";
import { siteFiles } from "../site-files.js";
import { StderrLog } from "../stderr-log.js";
import { type FoundSurroundings, readSurroundings, type SurroundingsOptions } from "../surroundings.js";
import { systemClock } from "../system.js";
import { bringUpSchema } from "./bring-up-schema.js";
import { Gate } from "./gate.js";
import { type OpenedPlatform, openPlatform } from "./open-platform.js";
import { isAsServed, readAgain, rehearsed } from "./reload.js";
import { startUpkeep } from "./upkeep.js";

type App = Awaited<ReturnType<typeof createApp>>;

/** What an app needs to know of the listeners in front of it. */
export type InFront = Pick<
  AppOptions,
  "clientAddress" | "publicBaseUrl" | "consoleFiles" | "consoleUrl" | "addHeader"
> & {
  /** The address that the server listens on, where it may come from the command line instead of svc.toml. */
  readonly listens?: ListenAddress;
  /** Called after a reload, with what it has found. */
  readonly reloaded?: (found: FoundSurroundings) => void;
};

/** How a backend is started. */
export interface BackendOptions extends SurroundingsOptions {
  /** Changes the settings of svc.toml, at each reload too. */
  readonly adapt: (config: Config) => Config;
}

/** The project that is being served, and the app that serves it. */
interface Served {
  readonly project: ProjectDirectory;
  readonly inFront: InFront;
  readonly app: App;
}

const starting = new Refusal("unavailable", "the server is starting");
const stopping: ReloadOutcome = { problems: [{ file: configFile, path: "", message: "the server is stopping" }] };

/** A project's server without listeners: its platform, its background work, and its app, which a reload exchanges. */
export class Backend {
  readonly project: ProjectDirectory;
  readonly found: FoundSurroundings;
  readonly log: StderrLog;
  readonly #options: BackendOptions;
  readonly #opened: OpenedPlatform;
  readonly #gate = new Gate();
  #served: Served | null = null;
  #upkeep: ReturnType<typeof startUpkeep> | undefined;
  /** Settles when the reloads that were asked for have ended. */
  #reloads: Promise<unknown> = Promise.resolve();
  /** The reloads that have not begun. */
  readonly #next: { dryRun?: Promise<ReloadOutcome>; real?: Promise<ReloadOutcome> } = {};
  /** How many requests in progress wait for a reload. */
  #asking = 0;
  #isStopping = false;

  private constructor(
    project: ProjectDirectory,
    found: FoundSurroundings,
    options: BackendOptions,
    opened: OpenedPlatform,
    log: StderrLog,
  ) {
    this.project = project;
    this.found = found;
    this.log = log;
    this.#options = options;
    this.#opened = opened;
  }

  /**
   * Throws ProblemsError if the project or the environment does not allow a start, and UnavailableError if the database
   * cannot be opened.
   */
  static async open(read: ProjectDirectory, options: BackendOptions): Promise<Backend> {
    const project = { ...read, config: options.adapt(read.config) };
    const log = new StderrLog(project.config.log, systemClock);
    const found = readSurroundings(project, options);
    const opened = await openPlatform(project, found, options.environment, log);
    return new Backend(project, found, options, opened, log);
  }

  get platform(): Platform {
    return this.#opened.platform;
  }

  /** The settings that are served now. */
  get config(): Config {
    return (this.#served?.project ?? this.project).config;
  }

  /** The app as the last reload has made it; null before the start. */
  get app(): App | null {
    return this.#served?.app ?? null;
  }

  /** Answers a request by the app. */
  readonly fetch: Fetch = (request, env) =>
    this.#gate.pass(() => this.app?.fetch(request, env) ?? starting.toResponse());

  /** Answers a request at the console's own address. */
  readonly consoleFetch: Fetch = (request, env) =>
    this.#gate.pass(() => this.app?.consoleFetch?.(request, env) ?? starting.toResponse());

  /** Makes the app and starts the background work. Called once. */
  async start(inFront: InFront): Promise<void> {
    const { project, found, log } = this;
    const app = await this.#makeApp(project, found, inFront);
    this.#served = { project, inFront, app };
    const declared = this.#opened.broughtUp.schema?.auth.providers ?? [];
    await app.providers.warnOfMissing(declared);
    if (declared.length > 0) warnOfSignInAddress(found.baseUrl ?? this.#options.host, log);
    this.#upkeep = startUpkeep(() => this.#served!.app.upkeep, log);
  }

  /**
   * Takes the project's files over as they are now (`docs/reference/http.md#reload`). One reload runs at a time; those
   * that are asked for meanwhile share the next one. `isAsked`: whether a request in progress waits for it.
   */
  async reload({
    isDryRun,
    isAsked,
  }: {
    readonly isDryRun: boolean;
    readonly isAsked: boolean;
  }): Promise<ReloadOutcome> {
    if (isAsked) this.#asking++;
    try {
      const kind = isDryRun ? "dryRun" : "real";
      this.#next[kind] ??= this.#reloads.then(() => {
        delete this.#next[kind];
        return this.#isStopping ? stopping : this.#reload(isDryRun);
      });
      const reloaded = this.#next[kind];
      this.#reloads = reloaded.catch(() => {});
      return await reloaded;
    } finally {
      if (isAsked) this.#asking--;
    }
  }

  async #reload(isDryRun: boolean): Promise<ReloadOutcome> {
    const served = this.#served;
    if (served === null) throw new Error("a server that has not started cannot be reloaded");
    const { platform, plans } = this.#opened;
    try {
      const { project, found } = readAgain(served.project, this.#options);
      const plan = await rehearsed(project, platform.database, plans.plan);
      const { projects } = served.app.lasting;
      const applied = plan.steps.length > 0 || !isAsServed(project, served.project, projects.serving());
      if (isDryRun || !applied) return { applied, ...plan };
      const app = await this.#makeApp(project, found, served.inFront, served.app);
      const { steps } = await this.#gate.exchange(
        () => this.#asking,
        async () => {
          const broughtUp = await bringUpSchema(project, platform.database, this.log);
          await projects.adopt(project.config);
          app.takeOver();
          this.#served = { ...served, project, app };
          return broughtUp;
        },
      );
      this.log.settings = project.config.log;
      plans.withinMs = project.config.api.key_deadline_ms;
      served.inFront.reloaded?.(found);
      platform.commits.announce();
      return { applied, steps, waits: plan.waits };
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error;
      return { problems: error.problems };
    }
  }

  #makeApp(
    { config, directory }: ProjectDirectory,
    { secret, previousSecret, mail, baseUrl }: FoundSurroundings,
    inFront: InFront,
    before?: App,
  ): Promise<App> {
    const { environment } = this.#options;
    const { serve_dir, fallback } = config.server;
    return createApp({
      ...inFront,
      publicBaseUrl: baseUrl ?? inFront.publicBaseUrl,
      config: { ...config, server: { ...config.server, ...inFront.listens } },
      platform: { ...this.platform, mail },
      secrets: { current: secret.bytes, previous: previousSecret },
      loopbackOnly: secret.insecure,
      planner: this.#opened.plans,
      readRules: async () => {
        const text = await readFile(join(directory, configFile), "utf8").catch(() => null);
        return text === null ? null : (parseConfig(text, { environment }).config ?? null);
      },
      readSchemaFile: () => readFile(join(directory, schemaFile), "utf8"),
      surroundings: { runtime: "node", isSet: (variable) => Boolean(environment[variable]) },
      reload: ({ isDryRun }) => this.reload({ isDryRun, isAsked: true }),
      siteFiles: serve_dir === "" ? null : siteFiles(resolve(directory, serve_dir), fallback),
      ...(before && { lasting: before.lasting }),
    });
  }

  /**
   * Ends streams, waits for requests in progress and for `drained` (which may call `endLongWork` to interrupt long reads
   * and writes), lets the background work finish until `endsAtMs` (of `performance.now()`), and closes everything.
   */
  async stop(endsAtMs: number, drained: (endLongWork: () => Promise<void>) => Promise<void>): Promise<void> {
    const { endLongWork } = this.#opened;
    this.#isStopping = true;
    await this.#reloads;
    this.app?.endStreams();
    await Promise.all([this.#gate.ended(endLongWork), drained(endLongWork)]);
    await this.#upkeep?.stop(endsAtMs - performance.now());
    await this.close();
  }

  /** Closes everything, also after a failed start. */
  close(): Promise<void> {
    return this.#opened.close();
  }
}

/**
 * Warns if no base URL is configured and the server listens on more than this machine: browsers could not reach the
 * callback URL of a sign-in provider then. `reachedAt` is the configured base URL, or else the host that the server
 * listens on.
 */
function warnOfSignInAddress(reachedAt: string, log: Log): void {
  if (!/^https?:/.test(reachedAt) && !isLoopbackHost(reachedAt))
    log.warn("social sign-in needs auth.public_base_url, the address that browsers reach the server at");
}
