import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createApp } from "../app.js";
import type { AppOptions } from "../assemble/app-options.js";
import { openForProject } from "../auth/oauth/project-credentials.js";
import { isLoopbackHost } from "../http/loopback.js";
import type { Log, Platform } from "../platform/platform.js";
import { providerCredentials } from "../platform/provider-credentials.js";
import type { Config } from "../project/config.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { parseConfig } from "../project/parse-config.js";
import { bringUpSchema } from "./bring-up-schema.js";
import { nodeCipher } from "./cipher.js";
import { openJournal } from "./open-journal.js";
import { createArgon2 } from "./passwords/argon2.js";
import { SchemaPlans } from "./plans/schema-plans.js";
import { openServerDatabase } from "./project-database.js";
import type { ProjectDirectory } from "./project-directory.js";
import { credentialFiles } from "./provider-credentials.js";
import type { FoundSurroundings } from "./surroundings.js";
import { deferTo, systemClock, systemFetch, systemRandom } from "./system.js";
import { startUpkeep } from "./upkeep.js";

type App = Awaited<ReturnType<typeof createApp>>;

/** What an app needs to know of the listeners in front of it. */
export type AppSurroundings = Pick<
  AppOptions,
  "clientAddress" | "publicBaseUrl" | "consoleFiles" | "consoleUrl" | "addHeader"
> & {
  /** With the address that the server listens on, which may come from the command line instead of svc.toml. */
  readonly config: Config;
  /** Where sign-in providers send browsers, if no base URL is configured: the host that the server listens on. */
  readonly reachedAt: string;
};

/** A project's server without listeners: its database, journal, threads and background work. */
export interface Backend {
  readonly platform: Platform;
  /** Makes the app and starts the background work. Called once. */
  start(surroundings: AppSurroundings): Promise<App>;
  /**
   * Ends streams, waits for `drained` (which ends when no request is in progress, and may call `endLongWork` to interrupt
   * long reads and writes), lets the background work finish until `endsAtMs` (of `performance.now()`), and closes
   * everything.
   */
  stop(endsAtMs: number, drained: (endLongWork: () => Promise<void>) => Promise<void>): Promise<void>;
  /** Closes everything after a failed start. */
  close(): Promise<void>;
}

/**
 * Opens what the server of a project works with, and brings up its schema. Throws ProblemsError if the project does not
 * allow a start, and UnavailableError if the database cannot be opened.
 */
export async function openBackend(
  project: ProjectDirectory,
  { secret, previousSecret, secretsKey, mail }: FoundSurroundings,
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<Backend> {
  const { config, directory } = project;
  const opened = await openServerDatabase(project, environment, log);
  const { database } = opened;
  const passwordHasher = createArgon2();
  const plans = new SchemaPlans(config.api.key_deadline_ms);
  const closings = [() => opened.close(), () => passwordHasher.close()];
  const close = async () => {
    plans.close();
    for (const each of closings.toReversed()) await each();
  };
  try {
    const schema = await bringUpSchema(project, database, log);
    if (secret.insecure) log.warn("the development secret is in use: anyone who reads svc.toml can sign in as anyone");
    const journal = await openJournal(project, database, log);
    // Also after a failed start: otherwise the next start would take the sequence numbers that were reserved and never
    // used for lost receipts.
    closings.push(() => journal.close());
    const platform: Platform = {
      database,
      journal,
      passwordHasher,
      commits: opened.commits,
      clock: systemClock,
      random: systemRandom,
      cipher: nodeCipher,
      log,
      mail,
      fetch: systemFetch,
      providerCredentials: providerCredentials(
        credentialFiles(directory).read,
        secretsKey && openForProject(database, secretsKey),
      ),
      defer: deferTo(log, systemClock),
      requestsVanish: false,
    };
    let app: App | undefined;
    let upkeep: ReturnType<typeof startUpkeep> | undefined;
    return {
      platform,
      start: async ({ reachedAt, ...surroundings }) => {
        app = await createApp({
          ...surroundings,
          platform,
          secrets: { current: secret.bytes, previous: previousSecret },
          loopbackOnly: secret.insecure,
          planner: plans.plan,
          readRules: async () => {
            const text = await readFile(join(directory, configFile), "utf8").catch(() => null);
            return text === null ? null : (parseConfig(text, { environment }).config ?? null);
          },
          readSchemaFile: () => readFile(join(directory, schemaFile), "utf8"),
          surroundings: { runtime: "node", isSet: (variable) => Boolean(environment[variable]) },
        });
        const declared = schema?.auth.providers ?? [];
        await app.providers.warnOfMissing(declared);
        if (declared.length > 0) warnOfSignInAddress(reachedAt, log);
        upkeep = startUpkeep(app.upkeep, log);
        return app;
      },
      stop: async (endsAtMs, drained) => {
        app?.endStreams();
        await drained(async () => {
          plans.close();
          await opened.endLongWork();
        });
        await upkeep?.stop(endsAtMs - performance.now());
        await close();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
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
