// The Worker of the tests: many projects, each with a database of its own, and the clock, the log and the mail of the test
// that asked. Everything else is what the product's Worker is made of.

import { waitUntil } from "cloudflare:workers";
import { createApp } from "../../../dist/app.js";
import { addHeader } from "../../../dist/http/respond.js";
import { databaseJournal } from "../../../dist/metering/database-journal.js";
import { type Database, NotSetUpError } from "../../../dist/platform/database.js";
import type { Platform } from "../../../dist/platform/platform.js";
import { webCipher } from "../../../dist/platform/web-cipher.js";
import { parseConfig } from "../../../dist/project/parse-config.js";
import { openRemoteLibsql } from "../../../dist/remote/libsql.js";
import { applyChange } from "../../../dist/schema/apply.js";
import { childrenFirst } from "../../../dist/schema/physical/descendants.js";
import { loadPhysical } from "../../../dist/schema/physical/load-physical.js";
import { createArgon2 } from "../../../dist/worker/argon2.js";
import { type D1Binding, openD1 } from "../../../dist/worker/d1.js";
import { systemFetch, systemRandom } from "../../../dist/worker/system.js";
import { polledCommits } from "../../../src/remote/polled-commits.js";
import { thaw } from "../frozen.js";
import { patientCommits, patientConfig } from "../patience.js";
import { remembering } from "../remembering-hasher.js";
import { type Calls, packedResults, type Report, type Secrets, type Start, unpackedStatements } from "./protocol.js";

interface Bindings {
  readonly HOST: { fetch(url: string, init: RequestInit): Promise<Response> };
  readonly [database: `DB${number}`]: D1Binding;
}

type App = Awaited<ReturnType<typeof createApp>>;

interface Project {
  app: App;
  /** Makes another app on the same platform. */
  readonly made: (secrets: Secrets) => Promise<App>;
  readonly database: Database;
  readonly clock: { ms: number };
  /** Work that answers have left behind. */
  readonly deferred: Promise<void>[];
  /** Lines of the log that are on their way to the test. */
  readonly reports: Promise<unknown>[];
  /** Of the request log, until the test asks for them. */
  readonly lines: string[];
}

const argon2 = createArgon2(systemRandom);
const passwordHasher = remembering(argon2);
const projects = new Map<number, Project>();

type Call = {
  [Path in keyof Calls]: (asked: Calls[Path]["asked"], of: Context) => Promise<Calls[Path]["answer"]>;
};

interface Context {
  readonly id: number;
  readonly bindings: Bindings;
  readonly project: Project;
}

const calls: Call = {
  "/__test/start": async (asked, { id, bindings }) => {
    const project = await start(id, asked, bindings);
    projects.set(id, project);
    const { foreignKeysStayOn, answerBytesMax, imageBytesMax, statementsMax } = project.database;
    return { foreignKeysStayOn, answerBytesMax, imageBytesMax, statementsMax };
  },
  "/__test/database": async ({ method, statements }, { project: { database } }) => {
    try {
      const results = await database[method](unpackedStatements(statements));
      return { results: packedResults(results ?? []) };
    } catch (error) {
      const { name, message, kind = null } = error as Error & { kind?: string };
      if (error instanceof NotSetUpError) return { error: { name: "NotSetUpError", kind, message } };
      return { error: { name, kind, message } };
    }
  },
  "/__test/hasher": async ({ method, parameters: [password, stored] }) =>
    method === "hash" ? argon2.hash(password) : argon2.verify(password, stored!),
  "/__test/settled": async (_, { project }) => {
    await settled(project.deferred);
    await settled(project.reports);
    return project.lines.splice(0);
  },
  "/__test/upkeep": async ({ task }, { project }) => {
    await project.app.upkeep[task as "purge"]();
    await settled(project.reports);
    return null;
  },
  "/__test/restart": async (secrets, { project }) => {
    await project.app.upkeep.finish();
    project.app = await project.made(secrets);
    return null;
  },
  "/__test/end": async (_, { id, project }) => {
    projects.delete(id);
    await wipe(project.database);
    return project.lines;
  },
};

export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const url = new URL(request.url);
    const id = Number(request.headers.get("Test-Project"));
    const project = projects.get(id)!;
    const clock = request.headers.get("Test-Now");
    if (clock !== null && project !== undefined) project.clock.ms = Number(clock);
    if (url.pathname in calls) {
      const call = calls[url.pathname as keyof Calls] as (asked: unknown, of: Context) => Promise<unknown>;
      try {
        return Response.json(await call(await request.json(), { id, bindings, project }));
      } catch (error) {
        return new Response((error as Error).stack, { status: 500 });
      }
    }
    // A test's server is reached at one address, whatever port the Worker listens on.
    const response = await project.app.fetch(new Request(`http://127.0.0.1:8787${url.pathname}${url.search}`, request));
    await settled(project.reports);
    return response;
  },
};

async function settled(work: Promise<unknown>[]): Promise<void> {
  while (work.length > 0) await work.shift();
}

async function start(id: number, asked: Start, bindings: Bindings): Promise<Project> {
  const clock = { ms: asked.now };
  const deferred: Promise<void>[] = [];
  const reports: Promise<unknown>[] = [];
  const lines: string[] = [];
  const report = (told: Report) => bindings.HOST.fetch("http://host/", { method: "POST", body: JSON.stringify(told) });
  const logged = (line: string) => {
    const told = report({ project: id, log: line });
    waitUntil(told);
    reports.push(told);
  };
  const database =
    "url" in asked.database
      ? openRemoteLibsql({
          url: asked.database.url,
          authToken: null,
          fetch: systemFetch,
          deadlineMs: 600_000,
        })
      : openD1(bindings[asked.database.binding as `DB${number}`]!);
  if (asked.frozen !== null) await thaw(database, asked.frozen);
  const { config: parsed } = parseConfig(asked.config);
  const config = patientConfig(parsed!, asked.config);
  const applied = await applyChange(database, asked.schema, { allowDestructive: false, now: clock.ms });
  if (applied.outcome === "refused") throw new Error(JSON.stringify(applied));
  const log = {
    warn: (message: string) => void logged(message),
    error: (message: string, cause: unknown) => void logged(`${message}: ${(cause as Error)?.stack ?? cause}`),
    line: (text: string) => void lines.push(text),
  };
  const platform: Platform = {
    database,
    passwordHasher,
    commits: patientCommits(polledCommits(50)),
    clock: { now: () => clock.ms, elapsed: () => clock.ms, cpu: () => clock.ms },
    journal: databaseJournal(database),
    random: systemRandom,
    cipher: webCipher,
    log,
    mail: {
      send: async (mail) => {
        const taken = await report({ project: id, mail });
        if (!taken.ok) throw new Error(await taken.text());
      },
    },
    fetch: systemFetch,
    providerCredentials: async (provider) => asked.credentials[provider] ?? null,
    defer: (work) => {
      const done = work().catch((error: unknown) => log.error("deferred work failed", error));
      deferred.push(done);
      waitUntil(done);
    },
    requestsVanish: true,
  };
  const bytes = (text: string) => new TextEncoder().encode(text);
  const made = ({ secret, previousSecret }: Secrets) =>
    createApp({
      config: config,
      platform,
      secrets: {
        current: bytes(secret),
        previous: previousSecret === undefined ? null : bytes(previousSecret),
      },
      loopbackOnly: false,
      readSchemaFile: async () => asked.schema,
      clientAddress: ({ headers }) => headers.get("Test-Client-Address") ?? "192.0.2.1",
      publicBaseUrl: config.auth.public_base_url || "http://127.0.0.1:8787",
      surroundings: { runtime: "worker", isSet: (variable) => variable === "SVC_JWT_SECRET" },
      addHeader,
      consoleFiles: null,
      consoleUrl: null,
      ...(asked.providerEndpoints && { providerEndpoints: asked.providerEndpoints }),
    });
  return { app: await made(asked), made, database, clock, deferred, reports, lines };
}

/** Leaves an empty database to the next test. */
async function wipe(database: Database): Promise<void> {
  const [found] = await database.query([
    {
      // Triggers first: dropping a table fires those of the tables that refer to it.
      sql: `SELECT type, name FROM sqlite_master WHERE type = 'trigger'
        UNION ALL SELECT type, name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'`,
      params: [],
    },
  ]);
  const things = found!.rows.map(([type, name]) => ({ type, name: String(name) }));
  // Children before their parents: SQLite deletes a child only while all of its parents are there.
  const tables = childrenFirst(
    things.filter(({ type }) => type !== "trigger"),
    await loadPhysical(database),
  );
  const drops = [...things.filter(({ type }) => type === "trigger"), ...tables].map(({ type, name }) => ({
    sql: `DROP ${type === "view" || type === "trigger" ? type : "table"} "${name.replaceAll('"', '""')}"`,
    params: [],
  }));
  await database.batch([{ sql: "PRAGMA defer_foreign_keys=on", params: [] }, ...drops]);
}
