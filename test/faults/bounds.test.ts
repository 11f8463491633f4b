import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import Libsql from "libsql";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { figure, quantile } from "../support/figures.js";
import { svc } from "../support/project-directory.js";
import { builtCommand, type SpawnedServer, spawnServer } from "../support/spawned-server.js";

/**
 * docs/benchmarks.md#bounds: requests of which each could take the server away from the others. What must hold on every
 * machine is expected; the figures are printed. `SECONDS` is how long each goes on, `COMMAND` is another checkout's server.
 */
const seconds = Number(process.env.SECONDS ?? 0.1);
const command = process.env.COMMAND ?? builtCommand;
const residentMbMax = 400;
/** Rows of a megabyte. To write them takes a short run some of its seconds. */
const longRows = process.env.SECONDS === undefined ? 40 : 200;
vi.setConfig({ testTimeout: 9_000_000, hookTimeout: 9_000_000 });

const schema = `
$history: 30d
$operations:
  swap:
    params: { id: integer, from: text, to: text }
    allow: "auth.id is not null"
    steps: [{ sql: "update docs set body = replace(body, :from, :to) where id = :id" }]
  padded:
    params: { width: integer }
    allow: "auth.id is not null"
    steps: [{ sql: "select printf('%0*d', :width, id) as n from docs limit 1", returns: one, as: { n: text } }]
docs:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text }, body: { type: text }, j: { type: json } }
  indexes: [{ columns: [owner] }]
comments:
  columns: { id: { type: integer, primary_key: true }, doc_id: { type: integer, references: { table: docs, column: id } } }
notes:
  columns: { id: { type: integer, primary_key: true }, n: { type: integer }, body: { type: text } }
filled:
  columns: { id: { type: integer, primary_key: true }, body: { type: text }, word: { type: text } }
  triggers:
    filled_in: after insert on filled begin update filled set body = replace(new.body, 'a', new.word) where id = new.id; end
wide:
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer }
${Array.from({ length: 20 }, (_, i) => `    body${i}: { type: text }`).join("\n")}
narrow: { columns: { id: { type: integer, primary_key: true }, n: { type: integer } } }
`;
const config = `
auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the fault tests, 32 bytes", access_token_ttl_secs = 86_400 }
[api]
key_deadline_ms = 600_000
[rules.docs]
read = "row.owner = auth.id or row.owner = 'all'"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
[rules.comments]
read = "public"
[rules.notes]
read = "public"
create = "auth.id is not null"
update = "auth.id is not null"
[rules.notes.columns.id]
write = "auth.id is not null"
[rules.filled]
read = "public"
create = "auth.id is not null"
[rules.wide]
read = "public"
update = "auth.id is not null"
[rules.narrow]
read = "public"
`;

interface User {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
}

let directory: string;
let server: SpawnedServer;
let ada: User;
let bob: User;
/** The secret of a `project:backend` key. */
let key: string;

const json = { "Content-Type": "application/json" };

async function register(name: string): Promise<User> {
  const body = JSON.stringify({ email: `${name}@example.com`, password: "correct horse" });
  const answer = await fetch(`${server.url}/auth/register`, { method: "POST", headers: json, body });
  const { data } = (await answer.json()) as { data: { access_token: string; user: { id: string } } };
  const token = data.access_token;
  return { id: data.user.id, token, headers: { Authorization: `Bearer ${token}` } };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "svc-bounds-"));
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  writeFileSync(join(directory, "svc.toml"), config);
  server = await start();
  const made = svc(directory, ["admin", "create-service-key", "--name", "test", "--scope", "project:backend"]);
  key = made.trim().split("\n").at(-1)!;
  ada = await register("ada");
  bob = await register("bob");
  const database = new Libsql(join(directory, ".svc/data.db"));
  database.exec("PRAGMA busy_timeout=60000; PRAGMA wal_autocheckpoint=0");
  const rows = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const megabyte = "replace(hex(zeroblob(500000)), '0', 'a')";
  database.exec(`
    INSERT INTO docs (id, owner, body) VALUES (1, 'all', ${megabyte}), (2, '${ada.id}', replace(hex(zeroblob(500)), '0', 'a'));
    ${rows(longRows)} INSERT INTO docs (owner, body) SELECT '${bob.id}', ${megabyte} FROM n;
    ${rows(30)} INSERT INTO comments (doc_id) SELECT 1 FROM n;
    ${rows(1000)} INSERT INTO notes (id, n, body) SELECT i, i, replace(hex(zeroblob(15000)), '0', 'a') FROM n;
    INSERT INTO wide SELECT 1, 0${`, ${megabyte}`.repeat(20)};
    INSERT INTO wide SELECT 2, 0${`, ${megabyte}`.repeat(4)}${", NULL".repeat(16)};
    ${rows(1000)} INSERT INTO narrow (id, n) SELECT i, i FROM n;`);
  database.close();
  await server.end("SIGTERM");
});

// Memory that an earlier test has left to the process says nothing about the next one.
beforeEach(async () => {
  server = await start();
});

afterEach(async () => {
  const health = await fetch(`${server.url}/health`).then(({ status }) => status, String);
  const resident = residentMb();
  // First, so that the next test can start its own.
  await server.end("SIGKILL");
  expect(health).toBe(200);
  expect(resident).toBeLessThan(residentMbMax);
});

afterAll(() => rmSync(directory, { recursive: true }));

const start = () => spawnServer(directory, "ignore", "./test/faults/stretches.js", command);

const residentMb = () => {
  const status = readFileSync(`/proc/${server.process.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
};

interface Measured {
  readonly longestMs: number;
  readonly residentMb: number;
  readonly healthMs: number;
  readonly statuses: readonly number[];
}

/** Repeats `send` on several connections at once, and measures the server meanwhile. */
async function under(connections: number, send: () => Promise<number>): Promise<Measured> {
  const args = ["test/faults/prober.js", server.url, "/api/narrow/1", ada.token, String(server.process.pid)];
  const prober: ChildProcess = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const printed = text(prober.stdout!);
  server.process.send("begin");
  const endsAtMs = performance.now() + seconds * 1_000;
  const statuses = new Set<number>();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      do statuses.add(await send());
      while (performance.now() < endsAtMs);
    }),
  );
  const answer = once(server.process, "message");
  server.process.send("end");
  const [{ longestMs }] = (await answer) as [{ longestMs: number }];
  prober.stdin!.end();
  const { milliseconds, residentMb } = JSON.parse(await printed) as { milliseconds: number[]; residentMb: number };
  return { longestMs, residentMb, healthMs: quantile(milliseconds, 0.99), statuses: [...statuses].sort() };
}

function row(name: string, { longestMs, residentMb, healthMs, statuses }: Measured): void {
  const cells = [`${longestMs.toFixed(0)} ms`, `${residentMb.toFixed(0)} MB`, `${healthMs.toFixed(0)} ms`];
  figure("bounds", name, statuses.join(), ...cells);
  expect(residentMb, name).toBeLessThan(residentMbMax);
}

const post = (path: string, body: string, user?: User) => async () => {
  const answer = await fetch(server.url + path, { method: "POST", headers: { ...json, ...user?.headers }, body });
  await answer.arrayBuffer();
  return answer.status;
};
const get = (path: string, user?: User) => async () => {
  const answer = await fetch(server.url + path, { headers: user?.headers ?? {} });
  await answer.arrayBuffer();
  return answer.status;
};

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");
const members = `{${Array.from({ length: 75_000 }, (_, i) => `"k${i}":{}`).join()}}`;
const ones = `[${Array.from({ length: 199_000 }, () => "1").join()}]`;

it.each([
  ["batch", "/api/_svc/batch"],
  ["pull", "/api/_svc/pull"],
])("an object of 75,000 members to %s", async (name, path) => {
  row(`75,000 members to ${name}, anonymous, 2 at once`, await under(2, post(path, members)));
  row(`75,000 members to ${name}, a user, 2 at once`, await under(2, post(path, members, ada)));
  row(`199,000 items to ${name}, a user, 2 at once`, await under(2, post(path, `{"k":${ones}}`, ada)));
});

it("a json column of 70,000 keys", async () => {
  const keys = `{${Array.from({ length: 70_000 }, (_, i) => `"k${i}":1`).join()}}`;
  row(
    "a json column of 70,000 keys, written",
    await under(1, post("/api/docs", `{"owner":"${ada.id}","j":${keys}}`, ada)),
  );
});

it("answers of 30 MB, read", async () => {
  row(
    "a page whose rows are expanded by 1 MB each, read, 4 at once",
    await under(4, get("/api/comments?limit=30&expand=doc_id")),
  );
  row(`${longRows} own rows of 1 MB, 2 at once`, await under(2, get("/api/docs?limit=200", bob)));
  row("1,000 rows of 30 KB, 8 at once", await under(8, get("/api/notes?limit=1000")));
});

it.each([
  ["a page whose rows are expanded by 1 MB each", "/api/comments?limit=30&expand=doc_id"],
  ["1,000 rows of 30 KB", "/api/notes?limit=1000"],
])("connections that do not read %s", async (name, path) => {
  const { hostname, port } = new URL(server.url);
  const sockets = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      socket.pause();
      socket.on("error", () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
      return socket;
    }),
  );
  row(`${name}, not read by 64 connections`, await under(1, get("/api/narrow/2")));
  for (const socket of sockets) socket.destroy();
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

it("a row of 20 MB", async () => {
  row("a row of 20 MB by its key, 2 at once", await under(2, get("/api/wide/1")));
});

it("a row of 4 MB", async () => {
  const patch = async () => {
    const headers = { ...json, ...ada.headers };
    const answer = await fetch(`${server.url}/api/wide/2`, { method: "PATCH", headers, body: '{"n":1}' });
    await answer.arrayBuffer();
    return answer.status;
  };
  row("a row of 4 MB, updated", await under(1, patch));
});

it("a first pull beside rows of 1 MB of others", async () => {
  const body = JSON.stringify({ tables: { docs: { select: ["id"] } }, checkpoint: null, limit: 10 });
  row(
    `a first pull beside ${longRows} rows of 1 MB of others, 4 at once`,
    await under(4, post("/api/_svc/pull", body, ada)),
  );
});

it("steps that would make large values", async () => {
  const swap = JSON.stringify({ id: 2, from: "a", to: "b".repeat(900_000) });
  const swapped = await under(1, post("/ops/swap", swap, ada));
  row("`replace` that would make 900 MB", swapped);
  expect(swapped.statuses).toEqual([400]);
  const padded = await under(1, post("/ops/padded", '{"width":500000000}', ada));
  row("`printf` that would make 500 MB", padded);
  expect(padded.statuses).toEqual([400]);
  const filled = await under(
    1,
    post("/api/filled", JSON.stringify({ body: "a".repeat(1_000), word: "b".repeat(900_000) }), ada),
  );
  row("`replace` in a trigger that would make 900 MB", filled);
  expect(filled.statuses).toEqual([400]);
});

it("many values and rows", async () => {
  const values = Array.from({ length: 900 }, (_, i) => i);
  const $and = Array.from({ length: 190 }, () => ({ n: { in: values } }));
  const query = JSON.stringify({ filter: { $and } });
  row("190 `in` of 900 values", await under(1, post("/api/notes/_svc/query", query, ada)));
  const rows = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ id: i + 1, n: i, body: "short" })));
  row("an upsert of 1,000 rows", await under(1, post("/api/notes?on_conflict=id&on_duplicate=update", rows, ada)));
});

/** With `SECONDS` also those that take the thread many seconds; for the last of them it has not enough memory. */
const longPlans: readonly (readonly [string, string])[] = [
  [
    "60,000 unknown keys",
    `t:\n  columns: { id: { type: integer, primary_key: true } }\n${lines(60_000, (i) => `  k${i}: 1`)}`,
  ],
  [
    "300 tables of 60 columns",
    lines(300, (t) => `t${t}:\n  columns:\n${lines(60, (i) => `    c${i}: { type: text, primary_key: ${i === 0} }`)}`),
  ],
  ["300,000 empty maps", `t: [${"{},".repeat(300_000)}]`],
];

it.each<readonly [string, string]>([
  ["20,000 anchors", lines(20_000, (i) => `a${i}: &x${i} {}`)],
  ["50,000 maps in each other", `t: ${"{a: ".repeat(50_000)}1${"}".repeat(50_000)}`],
  ...(process.env.SECONDS === undefined ? [] : longPlans),
])("a plan of a schema with %s", async (name, schema) => {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/yaml" };
  const plan = async () => {
    const answer = await fetch(`${server.url}/admin/api/schema/plan`, { method: "POST", headers, body: schema });
    expect((await answer.text()).length).toBeLessThan(1_000_000);
    return answer.status;
  };
  const planned = await under(1, plan);
  row(`a plan of a schema with ${name}`, planned);
  expect(planned.statuses).toEqual([name === "300 tables of 60 columns" ? 200 : 400]);
});
