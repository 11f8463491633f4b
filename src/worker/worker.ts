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
 * What the runtime passes to a Worker: variables and secrets of wrangler.toml and `wrangler secret put` as text, and
 * resources such as databases as objects.
 */
export type Bindings = Readonly<Record<string, unknown>>;

/** Opens the database that an entry supports. Throws ProblemsError where svc.toml or the bindings name another. */
export type OpenDatabase = (config: Config, bindings: Bindings) => Database;

type App = Awaited<ReturnType<typeof createApp>>;

const log = consoleLogOf(config.log);

/** Makes the Worker of the project in project.js, which `svc worker build` has written beside this file. */
export function createWorker(openDatabase: OpenDatabase) {
  // The app is kept for the whole isolate. It is not kept as a promise, because the request that began to make the app
  // may be cancelled, and its promise would then never settle.
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

    /** Called by the cron of wrangler.toml: background work, including mails that are due. */
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
      // Cloudflare serves them, as wrangler.toml says.
      consoleFiles: null,
      consoleUrl: null,
    });
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    log.error("the server is not configured", error.message);
    return error;
  }
}

/** Reads secrets and other settings from the bindings. Throws ProblemsError with everything that is missing. */
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

/** The bindings that are text: variables and secrets. */
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

/** The error for a wrong key of svc.toml; `path` is the key, such as `database.url`. */
export function problem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: configFile, path, message }]);
}
