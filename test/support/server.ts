import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, TestRunner } from "vitest";
import { createApp } from "../../src/app.js";
import type { Upkeep } from "../../src/assemble/upkeep.js";
import { createServiceKey, createUser } from "../../src/auth/accounts/administration.js";
import type { ProviderEndpoints } from "../../src/auth/oauth/provider.js";
import { isRefusal } from "../../src/http/refusal.js";
import { addHeader } from "../../src/http/respond.js";
import { databaseJournal } from "../../src/metering/database-journal.js";
import { nodeCipher } from "../../src/node/cipher.js";
import { consoleFiles } from "../../src/node/console-files.js";
import type { EmbeddedDatabase } from "../../src/node/database/libsql.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { createArgon2 } from "../../src/node/passwords/argon2.js";
import { createHttpServer } from "../../src/node/server/http-server.js";
import { systemRandom } from "../../src/node/system.js";
import type { Database } from "../../src/platform/database.js";
import type { Journal } from "../../src/platform/journal.js";
import type { Log, MailMessage, MailTransport, PasswordHasher, Platform } from "../../src/platform/platform.js";
import { webCipher } from "../../src/platform/web-cipher.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { openRemoteLibsql } from "../../src/remote/libsql.js";
import { polledCommits } from "../../src/remote/polled-commits.js";
import { applyChange } from "../../src/schema/apply.js";
import { certificate } from "./certificate.js";
import { documentedAnswers } from "./documented.js";
import { thaw } from "./frozen.js";
import { ManualClock } from "./manual-clock.js";
import { patientArrival, patientCommits, patientConfig, patientKeepAliveMs } from "./patience.js";
import { remembering } from "./remembering-hasher.js";
import { SecretScan } from "./secret-scan.js";
import { borrowSqld, sqldMissing } from "./sqld.js";

/** A project that is served to a test on whatever target the suite runs on, through Requests and Responses alone. */
export interface TestServer {
  request(path: string, init?: RequestInit): Promise<Response>;
  readonly database: Database;
  readonly clock: ManualClock;
  readonly log: MemoryLog;
  readonly platform: Platform;
  /** What was sent; a double of the mail transport. */
  readonly mail: MemoryMail;
  /** Waits for the work that answers have left behind. */
  settled(): Promise<void>;
  /** What the runtime would call now and then. */
  readonly upkeep: Upkeep;
  /** Serves the same project anew, on the same database, with these secrets. What was kept in memory is gone. */
  restart(secrets: TestSecrets): Promise<void>;
}

export interface TestSecrets {
  readonly secret: string;
  readonly previousSecret?: string;
}

/** As `createApp` takes them. */
function secretsOf({ secret, previousSecret }: TestSecrets) {
  const bytes = (text: string) => new TextEncoder().encode(text);
  return { current: bytes(secret), previous: previousSecret === undefined ? null : bytes(previousSecret) };
}

/** Keeps messages, or fails as long as it is told to. */
export class MemoryMail implements MailTransport {
  readonly messages: MailMessage[] = [];
  failure: Error | null = null;

  async send(message: MailMessage): Promise<void> {
    if (this.failure !== null) throw this.failure;
    this.messages.push(message);
  }
}

export interface TestProject {
  /** svc.schema.yaml */
  readonly schema: string;
  /** svc.toml */
  readonly config?: string;
  /** A database file to serve instead of an empty one. */
  readonly path?: string;
  /** A database that an earlier release made, to serve instead of an empty one: see `thaw`. */
  readonly frozen?: string;
  /** Replaces or wraps the database that the server sees. */
  readonly wrap?: (database: Database) => Database;
  readonly secret?: string;
  /** Instead of the real one that remembers what it has hashed before. */
  readonly passwordHasher?: PasswordHasher;
  /** Instead of the database's. */
  readonly journal?: Journal;
  /** Of sign-in providers, as the JSON that would have been installed. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Answers are not compared with the OpenAPI document, which takes as long as some lists: for what is measured. */
  readonly isMeasured?: boolean;
  /** Where the console's page is, in place of the built one. */
  readonly consoleDirectory?: string;
  /** Sign-in providers on loopback addresses. */
  readonly providerEndpoints?: ProviderEndpoints;
}

/** What the server would have written to standard error. */
export class MemoryLog implements Log {
  readonly lines: string[] = [];
  /** Those of the request log. On workerd they are here after `settled`. */
  readonly requests: string[] = [];

  line(text: string): void {
    this.requests.push(text);
  }

  warn(message: string): void {
    this.lines.push(message);
  }

  error(message: string, cause: unknown): void {
    this.lines.push(`${message}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`);
  }
}

const targetName = process.env.SVC_TARGET ?? "app";

export const testSecret = "a secret of the test suite, 32 bytes and more";

// Hashing is real, and one worker serves many files of tests.
const passwordHasher = remembering(createArgon2());

/**
 * Serves a project until the test ends, where the suite runs unless another target is named. The test fails where the server
 * has written a secret of it to its log.
 */
export async function serve(project: TestProject, target = targetName): Promise<TestServer> {
  const server = await (target.startsWith("workerd") ? serveInWorkerd : serveHere)(project, target);
  const secrets = new SecretScan();
  secrets.keep(project.secret ?? testSecret, ...Object.values(project.credentials ?? {}));
  onTestFinished(async () => {
    await server.settled();
    const { lines, requests } = server.log;
    expect(secrets.found([...lines, ...requests]), "secrets in the log").toEqual([]);
  });
  const request: TestServer["request"] = async (path, init) => {
    const response = await server.request(path, init);
    secrets.keepRequest(path, init ?? {}, response.status < 400);
    await secrets.keepResponse(path, response);
    return response;
  };
  const restart: TestServer["restart"] = (next) => {
    secrets.keep(next.secret, next.previousSecret ?? "");
    return server.restart(next);
  };
  return { ...server, request, restart };
}

/** In another process, which a test reaches through requests and the database alone. */
async function serveInWorkerd(project: TestProject, target: string): Promise<TestServer> {
  if (project.wrap) skip("the database that is watched or broken is of this process");
  if (project.path !== undefined) skip("a file that is there already is served embedded");
  if (project.journal) skip("the journal that is watched is of this process");
  if (project.consoleDirectory) skip("a Worker does not serve the console's page by itself");
  if (project.passwordHasher) skip("the hasher that is watched is of this process");
  if (target === "workerd-libsql" && sqldMissing !== null) skip(sqldMissing);
  const clock = new ManualClock();
  const log = new MemoryLog();
  const mail = new MemoryMail();
  const sqld = target === "workerd-libsql" ? await borrowSqld() : null;
  // Loaded here alone, as miniflare takes seconds.
  const { startInWorkerd } = await import("./workerd/worker.js");
  const worker = await startInWorkerd(
    {
      config: project.config ?? "",
      schema: project.schema,
      secret: project.secret ?? testSecret,
      credentials: project.credentials ?? {},
      providerEndpoints: project.providerEndpoints ?? null,
      frozen: project.frozen ?? null,
    },
    {
      now: () => clock.now(),
      mail: (message) => mail.send(message),
      log: (line) => log.lines.push(line),
      line: (text) => log.line(text),
    },
    sqld?.url ?? null,
  );
  onTestFinished(async () => {
    await worker.end();
    await sqld?.stop();
  });
  const upkeep: Upkeep = {
    resumeMail: () => worker.upkeep("resumeMail"),
    deliverMail: () => worker.upkeep("deliverMail"),
    purge: () => worker.upkeep("purge"),
    collectUsage: () => worker.upkeep("collectUsage"),
    due: () => worker.upkeep("due"),
    finish: () => worker.upkeep("finish"),
  };
  const replaced = () => skip("the platform's part that is replaced is of this process");
  const kept = <T extends object>(object: T) => new Proxy(object, { set: replaced, defineProperty: replaced });
  const platform: Platform = {
    database: worker.database,
    passwordHasher: kept({ ...passwordHasher }),
    commits: polledCommits(50),
    clock,
    random: systemRandom,
    cipher: webCipher,
    log,
    mail,
    journal: databaseJournal(worker.database),
    fetch: globalThis.fetch,
    providerCredentials: async () => null,
    defer: () => {},
    requestsVanish: true,
  };
  const { request, database, settled } = worker;
  return {
    request,
    database,
    clock,
    log,
    mail,
    platform: kept(platform),
    settled,
    upkeep,
    restart: worker.restart,
  };
}

async function serveHere(project: TestProject, target: string): Promise<TestServer> {
  const { database: opened, remove } = await openDatabase(project.path, target);
  const database = project.wrap?.(opened) ?? opened;
  const clock = new ManualClock();
  const log = new MemoryLog();
  const { config: parsed, problems } = parseConfig(project.config ?? "");
  if (parsed === null) throw new Error(JSON.stringify(problems));
  const config = patientConfig(parsed, project.config ?? "");
  if (project.frozen !== undefined) await thaw(opened, project.frozen);
  const applied = await applyChange(opened, project.schema, { allowDestructive: false, now: clock.now() });
  if (applied.outcome === "refused") throw new Error(JSON.stringify(applied));
  const mail = new MemoryMail();
  const deferred: Promise<void>[] = [];
  const platform: Platform = {
    database,
    passwordHasher: project.passwordHasher ?? passwordHasher,
    commits: patientCommits("commits" in opened ? (opened as EmbeddedDatabase).commits : polledCommits(50)),
    clock,
    random: systemRandom,
    cipher: nodeCipher,
    log,
    mail,
    journal: project.journal ?? databaseJournal(opened),
    fetch: globalThis.fetch,
    providerCredentials: async (provider) => project.credentials?.[provider] ?? null,
    defer: (work) => {
      deferred.push(work().catch((error: unknown) => log.error("deferred work failed", error)));
    },
    requestsVanish: false,
  };
  const readSchemaFile = async () => project.schema;
  const start = (secrets: TestSecrets) =>
    createApp({
      config,
      platform,
      secrets: secretsOf(secrets),
      loopbackOnly: false,
      readSchemaFile,
      // Every request of a test comes over one loopback socket; this header stands for the address of it.
      clientAddress: ({ headers }) => headers.get("Test-Client-Address") ?? "192.0.2.1",
      publicBaseUrl: config.auth.public_base_url || "http://127.0.0.1:8787",
      surroundings: { runtime: "node", isSet: (variable) => variable === "SVC_JWT_SECRET" },
      addHeader,
      consoleFiles: project.consoleDirectory === undefined ? null : consoleFiles(project.consoleDirectory),
      consoleUrl: null,
      ...(project.providerEndpoints && { providerEndpoints: project.providerEndpoints }),
    });
  let app = await start({ secret: project.secret ?? testSecret });
  const fetching: App["fetch"] = (...request) => app.fetch(...request);
  const { request: answer, close } = await targets[target]!(fetching, config.auth.public_base_url);
  const isDocumented = project.isMeasured ? async () => {} : documentedAnswers(project.config ?? "", config, opened);
  const request: TestServer["request"] = async (path, init) => {
    const response = await answer(path, init);
    await isDocumented(path, init ?? {}, response);
    return response;
  };
  onTestFinished(async () => {
    await close();
    await opened.close();
    await remove();
  });
  const settled = async () => {
    while (deferred.length > 0) await deferred.shift();
  };
  const restart = async (secrets: TestSecrets) => {
    await app.upkeep.finish();
    app = await start(secrets);
  };
  const upkeep: Upkeep = {
    resumeMail: () => app.upkeep.resumeMail(),
    deliverMail: () => app.upkeep.deliverMail(),
    purge: () => app.upkeep.purge(),
    collectUsage: () => app.upkeep.collectUsage(),
    due: () => app.upkeep.due(),
    finish: () => app.upkeep.finish(),
  };
  return { request, database, clock, log, mail, platform, settled, upkeep, restart };
}

interface OpenedDatabase {
  readonly database: Database;
  remove(): Promise<void>;
}

async function openDatabase(path: string | undefined, target: string): Promise<OpenedDatabase> {
  const embedded = (file: string) => ({
    database: openLibsql({ path: file, synchronous: "normal" }),
    remove: async () => {},
  });
  if (path !== undefined) {
    if (target === "remote") skip("a file that is there already is served embedded");
    return embedded(path);
  }
  switch (target) {
    case "remote": {
      if (sqldMissing !== null) skip(sqldMissing);
      const { url, stop } = await borrowSqld();
      const options = { url, authToken: null, fetch, deadlineMs: 600_000 };
      return { database: openRemoteLibsql(options), remove: stop };
    }
    case "socket": {
      // On a file, where long work runs in a thread of its own.
      const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
      return { ...embedded(join(folder, "data.db")), remove: () => rm(folder, { recursive: true }) };
    }
    default:
      // In memory, which is faster by half of a test.
      return embedded(":memory:");
  }
}

/** Where a backend differs in a way that no adapter can hide; docs/reference/backends.md lists them. */
export const onD1 = targetName === "workerd";

/** Where the database is a libSQL server. */
export const onSqld = targetName === "remote" || targetName === "workerd-libsql";

/** Where the database is an embedded file; on the other targets of this process it is in memory. */
export const onFile = targetName === "socket";

/** Where the server is another process, with a runtime of its own in front of it. */
export const inWorkerd = targetName.startsWith("workerd");

/** Leaves the running test out, and says why. */
export function skip(reason: string): never {
  return TestRunner.getCurrentTest()!.context.skip(reason);
}

interface Target {
  request(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

type App = Awaited<ReturnType<typeof createApp>>;

const direct = async (fetch: App["fetch"]): Promise<Target> => ({
  request: async (path, init) => fetch(new Request(`http://127.0.0.1:8787${path}`, init)),
  close: async () => {},
});

const targets: Record<string, (fetch: App["fetch"], publicBaseUrl: string) => Promise<Target>> = {
  app: direct,
  remote: direct,
  // For browsers, at `auth.public_base_url`.
  tls: async (fetch, publicBaseUrl) => {
    const server = await createHttpServer({
      fetch,
      tls: await certificate(),
      connectionsMax: 100,
      arrival: patientArrival,
      log: new MemoryLog(),
    });
    server.keepAliveTimeout = patientKeepAliveMs;
    server.listen(Number(new URL(publicBaseUrl).port), "localhost");
    await once(server, "listening");
    return { ...(await direct(fetch)), close: () => closed(server) };
  },
  socket: async (served) => {
    const server = await createHttpServer({
      fetch: served,
      tls: null,
      connectionsMax: 100,
      arrival: patientArrival,
      log: new MemoryLog(),
    });
    server.keepAliveTimeout = patientKeepAliveMs;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return {
      request: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
      close: () => closed(server),
    };
  },
};

async function closed(server: Server): Promise<void> {
  const ended = once(server, "close");
  server.close();
  server.closeAllConnections();
  await ended;
}

export interface SignedIn {
  readonly id: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** For the `headers` of a request. */
  readonly bearer: { readonly Authorization: string };
}

const password = "correct horse battery staple";

export async function signUp(server: TestServer, email: string): Promise<SignedIn> {
  return signedIn(await post(server, "/auth/register", { email, password }));
}

/** An administrator, who can only be made from the inside. */
export async function signUpAdmin(server: TestServer, email: string): Promise<SignedIn> {
  const made = await createUser(server.platform, {
    email,
    role: "admin",
    password,
    passwordLengthMin: 6,
    createdBy: "cli",
  });
  if (isRefusal(made)) throw new Error(made.message);
  return signedIn(await post(server, "/auth/login", { email, password }));
}

async function signedIn(response: Response): Promise<SignedIn> {
  const { data } = (await response.json()) as {
    data: { user: { id: string }; access_token: string; refresh_token: string };
  };
  return {
    id: data.user.id,
    accessToken: data.access_token,
    refreshToken: data.refresh_token,
    bearer: { Authorization: `Bearer ${data.access_token}` },
  };
}

/** The secret of a new API key, as headers. */
export async function apiKey(server: TestServer, ...scopes: string[]): Promise<{ Authorization: string }> {
  const key = await createServiceKey(server.platform, {
    name: "test",
    scopes,
    expiresAt: null,
    createdBy: "cli",
  });
  if (isRefusal(key)) throw new Error(key.message);
  return { Authorization: `Bearer ${key.secret}` };
}

export function post(
  server: TestServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return send(server, "POST", path, body, headers);
}

export function send(
  server: TestServer,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return server.request(path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
