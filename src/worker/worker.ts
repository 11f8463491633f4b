import { createApp } from "../app.js";
import type { AppOptions } from "../assemble/app-options.js";
import { openForProject } from "../auth/oauth/project-credentials.js";
import { Refusal } from "../http/refusal.js";
import { addHeader } from "../http/respond.js";
import { databaseJournal } from "../metering/database-journal.js";
import type { Database } from "../platform/database.js";
import type { MailTransport, Platform } from "../platform/platform.js";
import { providerCredentials } from "../platform/provider-credentials.js";
import { webCipher } from "../platform/web-cipher.js";
import { ProblemCollector, ProblemsError } from "../problems/problem.js";
import type { Config } from "../project/config.js";
import {
  configuredBaseUrl,
  type Environment,
  readPreviousSecret,
  readSecret,
  readSecretsKey,
} from "../project/environment.js";
import { configFile } from "../project/file-names.js";
import { httpMail } from "../remote/http-mail.js";
import { polledCommits } from "../remote/polled-commits.js";
import { broughtUpFirst } from "../schema/system/bring-up.js";
import { createArgon2 } from "./argon2.js";
import { type D1Binding, openD1 } from "./d1.js";
import { consoleLogOf, consoleMail, deferToEvent, systemClock, systemFetch, systemRandom } from "./system.js";

/**
 * What the runtime passes to a Worker. Variables of wrangler.toml, and secrets of `wrangler secret put`, are texts;
 * resources such as databases are objects.
 */
export type Bindings = Readonly<Record<string, unknown>>;

/** A project as `svc worker build` writes it: the default export of the module project.js. */
export interface WorkerProject {
  /** The parsed svc.toml. */
  readonly config: Config;
  /** The project's svc.schema.yaml. */
  readonly schemaText: string;
}

export type App = Awaited<ReturnType<typeof createApp>>;

/** Makes the handlers of a Worker that serves a project. */
export function createWorker(project: WorkerProject) {
  // The first request makes the app for the whole isolate. The promise is not kept: that request may be cancelled, and
  // the promise would then never settle for the others.
  let made: App | ProblemsError | undefined;
  const appOf = async (bindings: Bindings): Promise<App | ProblemsError> => {
    const app = made ?? (await appOrProblems(project, bindings));
    made ??= app;
    return made;
  };
  return {
    async fetch(request: Request, bindings: Bindings): Promise<Response> {
      const app = await appOf(bindings);
      if (!(app instanceof ProblemsError)) return app.fetch(request);
      return new Refusal("unavailable", "the server is not configured: see its log").toResponse();
    },

    /** Does the background work. The cron trigger of wrangler.toml calls it. */
    async scheduled(_event: unknown, bindings: Bindings): Promise<void> {
      const app = await appOf(bindings);
      if (app instanceof ProblemsError) return;
      await app.upkeep.due();
    },
  };
}

async function appOrProblems(project: WorkerProject, bindings: Bindings): Promise<App | ProblemsError> {
  try {
    return await makeApp(project, bindings, ({ headers }) => headers.get("CF-Connecting-IP") ?? "unknown");
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    consoleLogOf(project.config.log).error("the server is not configured", error.message);
    return error;
  }
}

/** Makes the app of a project. Throws ProblemsError with everything that is missing or wrong. */
export async function makeApp(
  { config, schemaText }: WorkerProject,
  bindings: Bindings,
  clientAddress: AppOptions["clientAddress"],
): Promise<App> {
  const log = consoleLogOf(config.log);
  const environment = environmentOf(bindings);
  const open = await databaseOpener(config);
  const { database: opened, ...surroundings } = readSurroundings(config, bindings, open);
  const { secret, previousSecret, secretsKey, publicBaseUrl, mail } = surroundings;
  const database = broughtUpFirst(opened, log, systemClock.now);
  const platform: Platform = {
    database,
    passwordHasher: createArgon2(systemRandom),
    commits: polledCommits(),
    clock: systemClock,
    random: systemRandom,
    cipher: webCipher,
    log,
    mail,
    journal: databaseJournal(database),
    fetch: systemFetch,
    providerCredentials: providerCredentials(
      async (provider) => environment[`SVC_AUTH_PROVIDER_${provider.toUpperCase()}`] || null,
      secretsKey && openForProject(database, secretsKey),
    ),
    defer: deferToEvent(log),
    requestsVanish: true,
  };
  return await createApp({
    config,
    platform,
    secrets: { current: secret.bytes, previous: previousSecret },
    loopbackOnly: secret.insecure,
    clientAddress,
    readSchemaFile: async () => schemaText,
    publicBaseUrl,
    surroundings: { runtime: "worker", isSet: (variable) => Boolean(environment[variable]) },
    addHeader,
    // Cloudflare serves the console's files, as wrangler.toml says.
    consoleFiles: null,
    consoleUrl: null,
  });
}

/**
 * Reads the settings of the Worker, and opens its database. Throws one ProblemsError that names everything that is
 * missing or wrong.
 */
function readSurroundings(config: Config, bindings: Bindings, open: OpenDatabase) {
  const environment = environmentOf(bindings);
  const collector = new ProblemCollector();
  const found = {
    secret: collector.read(() => readSecret(config, environment))!,
    previousSecret: collector.read(() => readPreviousSecret(config, environment)),
    secretsKey: collector.read(() => readSecretsKey(environment)),
    publicBaseUrl: collector.read(() => readBaseUrl(config, environment))!,
    mail: collector.read(() => mailTransport(config, environment))!,
    database: collector.read(() => open(bindings))!,
  };
  collector.end();
  return found;
}

/** Throws ProblemsError if the bindings hold no such database. */
type OpenDatabase = (bindings: Bindings) => Database;

/** How the database that `database.url` names is opened. The libSQL client is a module that D1 does not load. */
async function databaseOpener({ database: { url, auth_token_env } }: Config): Promise<OpenDatabase> {
  if (url.startsWith("file:"))
    return ({ DB }) => {
      if (DB === undefined) throw problem("database.url", "a Worker needs a D1 database, bound as DB in wrangler.toml");
      return openD1(DB as D1Binding);
    };
  const { openRemoteLibsql } = await import("../remote/libsql.js");
  return (bindings) =>
    openRemoteLibsql({ url, authToken: environmentOf(bindings)[auth_token_env] || null, fetch: systemFetch });
}

/** The bindings that are texts: variables and secrets. */
function environmentOf(bindings: Bindings): Environment {
  const texts = Object.entries(bindings).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts as [string, string][]);
}

function readBaseUrl(config: Config, environment: Environment): string {
  const url = configuredBaseUrl(config, environment);
  if (url !== null) return url;
  throw problem("auth.public_base_url", "expected the address that the Worker is reached at");
}

function mailTransport({ mail }: Config, environment: Environment): MailTransport {
  switch (mail.transport) {
    case "log":
      return consoleMail;
    case "smtp":
      throw problem("mail.transport", "smtp is for Node: on a Worker, http or log");
    case "http": {
      const token = environment[mail.http_token_env];
      if (!token) throw problem("mail.http_token_env", `the secret ${mail.http_token_env} is not set`);
      return httpMail({ url: mail.http_url, token, fetch: systemFetch });
    }
  }
}

/** The error for a wrong setting in svc.toml. `path` is its key, such as `database.url`. */
function problem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: configFile, path, message }]);
}
