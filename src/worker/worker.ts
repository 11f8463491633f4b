import { createApp } from "../app.js";
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
import { config, schemaText } from "./project.js";
import { consoleLogOf, consoleMail, deferToEvent, systemClock, systemFetch, systemRandom } from "./system.js";

/**
 * What the runtime passes to a Worker. Variables of wrangler.toml, and secrets of `wrangler secret put`, are texts;
 * resources such as databases are objects.
 */
export type Bindings = Readonly<Record<string, unknown>>;

/**
 * How an entry module opens its kind of database. Throws ProblemsError if svc.toml or the bindings name a database of
 * another kind, or none.
 */
export type OpenDatabase = (config: Config, bindings: Bindings) => Database;

type App = Awaited<ReturnType<typeof createApp>>;

const log = consoleLogOf(config.log);

/** Makes the handlers for the project in project.js, which `svc worker build` has written next to this file. */
export function createWorker(openDatabase: OpenDatabase) {
  // The first request makes the app for the whole isolate. The promise is not kept: that request may be cancelled, and
  // the promise would then never settle for the others.
  let made: App | ProblemsError | undefined;
  const appOf = async (bindings: Bindings): Promise<App | ProblemsError> => {
    const app = made ?? (await makeApp(bindings, openDatabase));
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
      await Promise.all([app.upkeep.deliverMail(), app.upkeep.purge(), app.upkeep.collectUsage()]);
    },
  };
}

async function makeApp(bindings: Bindings, openDatabase: OpenDatabase): Promise<App | ProblemsError> {
  try {
    const environment = environmentOf(bindings);
    const { database: opened, ...surroundings } = readSurroundings(bindings, environment, openDatabase);
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
      clientAddress: ({ headers }) => headers.get("CF-Connecting-IP") ?? "unknown",
      readSchemaFile: async () => schemaText,
      publicBaseUrl,
      surroundings: { runtime: "worker", isSet: (variable) => Boolean(environment[variable]) },
      addHeader,
      // Cloudflare serves the console's files, as wrangler.toml says.
      consoleFiles: null,
      consoleUrl: null,
    });
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    log.error("the server is not configured", error.message);
    return error;
  }
}

/**
 * Reads the settings of the Worker, and opens its database. Throws one ProblemsError that names everything that is
 * missing or wrong.
 */
function readSurroundings(bindings: Bindings, environment: Environment, openDatabase: OpenDatabase) {
  const collector = new ProblemCollector();
  const found = {
    secret: collector.read(() => readSecret(config, environment))!,
    previousSecret: collector.read(() => readPreviousSecret(config, environment)),
    secretsKey: collector.read(() => readSecretsKey(environment)),
    publicBaseUrl: collector.read(() => readBaseUrl(environment))!,
    mail: collector.read(() => mailTransport(environment))!,
    database: collector.read(() => openDatabase(config, bindings))!,
  };
  collector.end();
  return found;
}

/** The bindings that are texts: variables and secrets. */
export function environmentOf(bindings: Bindings): Environment {
  const texts = Object.entries(bindings).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts as [string, string][]);
}

function readBaseUrl(environment: Environment): string {
  const url = configuredBaseUrl(config, environment);
  if (url !== null) return url;
  throw problem("auth.public_base_url", "expected the address that the Worker is reached at");
}

function mailTransport(environment: Environment): MailTransport {
  const { mail } = config;
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
export function problem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: configFile, path, message }]);
}
