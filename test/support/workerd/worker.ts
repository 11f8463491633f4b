import { readFileSync } from "node:fs";
import { Miniflare } from "miniflare";
import type { Database } from "../../../src/platform/database.js";
import type { MailMessage, PasswordHasher } from "../../../src/platform/platform.js";
import { bundleDirectory } from "./bundle.js";
import { bundled } from "./modules.js";

import { keepNoIdleConnections } from "./no-idle-connections.js";
import { type Calls, packedStatements, type Report, type Secrets, type Start, unpackedResults } from "./protocol.js";

/** A project in workerd, as the test process sees it. */
export interface WorkerProject {
  readonly database: Database;
  request(path: string, init?: RequestInit): Promise<Response>;
  settled(): Promise<void>;
  upkeep(task: string): Promise<void>;
  restart(secrets: Secrets): Promise<void>;
  end(): Promise<void>;
}

export interface Surroundings {
  readonly now: () => number;
  /** A rejection is a delivery that failed. */
  readonly mail: (message: MailMessage) => Promise<void>;
  readonly log: (line: string) => void;
  readonly line: (text: string) => void;
}

const databasesMax = 100;

/** The one workerd of this process, which ends with it. */
let running: Promise<{ readonly url: string }> | undefined;
const surroundings = new Map<number, Surroundings>();
const idleBindings = Array.from({ length: databasesMax }, (_, n) => `DB${n}`);
let projectsStarted = 0;

async function startWorkerd(): Promise<{ readonly url: string }> {
  await keepNoIdleConnections();
  const miniflare = new Miniflare({
    ...bundled(bundleDirectory, "entry.js"),
    d1Databases: Object.fromEntries(idleBindings.map((binding) => [binding, binding])),
    serviceBindings: { HOST: hear },
  });
  await miniflare.ready;
  return { url: (await miniflare.unsafeGetDirectURL()).origin };
}

/** Bytes of memory that workerd holds at the moment, as Linux counts them. */
export function memoryOfWorkerd(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  const statuses = children.map((child) => readFileSync(`/proc/${child}/status`, "utf8"));
  const status = statuses.find((text) => text.startsWith("Name:\tworkerd\n"))!;
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}

/** The product's hasher in workerd. */
export function workerHasher(): Pick<PasswordHasher, "hash" | "verify"> {
  const compute = async (method: "hash" | "verify", ...parameters: [string, string?]) => {
    running ??= startWorkerd();
    const { url } = await running;
    const body = JSON.stringify({ method, parameters });
    const response = await fetch(`${url}/__test/hasher`, { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    hash: (password) => compute("hash", password) as Promise<string>,
    verify: (password, stored) => compute("verify", password, stored) as Promise<boolean>,
  };
}

async function hear(request: { json(): Promise<unknown> }): Promise<never> {
  const { Response } = await import("miniflare");
  const told = (await request.json()) as Report;
  const of = surroundings.get(told.project);
  if ("log" in told) of?.log(told.log);
  else {
    const failure = await of?.mail(told.mail).catch((error: unknown) => String(error));
    if (failure !== undefined) return new Response(failure, { status: 503 }) as never;
  }
  return new Response("heard") as never;
}

/** Serves a project in workerd, on D1 or on the libSQL server of that URL. */
export async function startInWorkerd(
  project: Omit<Start, "database" | "now">,
  around: Surroundings,
  libsqlUrl: string | null,
): Promise<WorkerProject> {
  running ??= startWorkerd();
  const { url } = await running;
  const id = projectsStarted++;
  surroundings.set(id, around);
  const headers = () => ({ "Test-Project": String(id), "Test-Now": String(around.now()) });
  const call = async <Path extends keyof Calls>(path: Path, asked: Calls[Path]["asked"]) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: headers(),
      body: JSON.stringify(asked),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Calls[Path]["answer"];
  };
  const binding = libsqlUrl === null ? idleBindings.pop() : undefined;
  if (libsqlUrl === null && binding === undefined) throw new Error("no D1 database is left");
  const database = libsqlUrl === null ? { binding: binding! } : { url: libsqlUrl };
  const traits = await call("/__test/start", { ...project, database, now: around.now() });
  const send = (method: "query" | "batch" | "migrate") => async (statements: Parameters<Database["query"]>[0]) =>
    unpackedResults(await call("/__test/database", { method, statements: packedStatements(statements) }));
  return {
    database: {
      ...traits,
      query: send("query"),
      batch: send("batch"),
      migrate: async (statements) => {
        await send("migrate")(statements);
      },
      close: async () => {},
    },
    request: (path, init) =>
      fetch(url + path, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers() },
      }),
    settled: async () => {
      for (const line of await call("/__test/settled", null)) around.line(line);
    },
    upkeep: async (task) => {
      await call("/__test/upkeep", { task });
    },
    restart: async (secrets) => {
      await call("/__test/restart", secrets);
    },
    end: async () => {
      for (const line of await call("/__test/end", null)) around.line(line);
      surroundings.delete(id);
      if (binding !== undefined) idleBindings.push(binding);
    },
  };
}
