import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, vi } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { figure, quantile } from "../support/figures.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { type SpawnedServer, spawnServer } from "../support/spawned-server.js";

/**
 * The dearest requests that are legal, one and twenty at once, beside somebody who asks for little. `npm run test:faults`
 * has a million narrow rows and a hundred thousand wide ones.
 */
const narrowRows = Number(process.env.ROWS ?? 20_000);
const wideRows = narrowRows / 10;
/** The default where there are many rows; few do not take that long. */
const deadlineMs = narrowRows >= 1_000_000 ? 5_000 : 500;

vi.setConfig({ testTimeout: 9_000_000 });

const schema = `
narrow:
  columns:
    id:       { type: integer, primary_key: true }
    group_id: { type: integer, not_null: true }
    label:    { type: text, not_null: true }
    filling:  { type: text, not_null: true }
  indexes: [{ columns: [group_id] }]
wide:
  columns:
    id:    { type: integer, primary_key: true }
    label: { type: text, not_null: true }
    body:  { type: text, not_null: true }
few:
  columns:
    id:    { type: integer, primary_key: true }
    label: { type: text, not_null: true }
parents:
  columns: { id: { type: integer, primary_key: true } }
children:
  columns:
    id:        { type: integer, primary_key: true }
    parent_id: { type: integer, not_null: true, references: { table: parents, on_delete: cascade } }
  indexes: [{ columns: [parent_id] }]
seats:
  primary_key: [room, user]
  columns: { room: { type: integer, not_null: true }, user: { type: text, not_null: true } }
  indexes: [{ columns: [user] }]
letters:
  columns:
    id:    { type: integer, primary_key: true }
    room:  { type: integer, not_null: true }
    label: { type: text, not_null: true }
  indexes: [{ columns: [room] }]
papers:
  columns: { id: { type: text, primary_key: true }, title: { type: text }, body: { type: text } }
  search: [title, body]
`;

const config = `
auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the fault tests, 32 bytes" }
[api]
deadline_ms = ${deadlineMs}
[rules.narrow]
read = "public"
[rules.wide]
read = "public"
[rules.few]
read = "exists(narrow n where n.label = row.label)"
[rules.letters]
read = "exists(seats s where s.room = row.room and s.user = auth.id)"
[rules.children]
read = "exists(seats s where s.room = row.id and s.user = auth.id)"
[rules.papers]
read = "public"
[rules.parents]
read = "public"
delete = "authenticated"
`;

const numbers = (howMany: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${howMany})`;
const parents = 21;

const rows = [
  `${numbers(narrowRows)} INSERT INTO narrow SELECT i, i % 10, hex(randomblob(8)), hex(zeroblob(100)) FROM n`,
  `${numbers(wideRows)} INSERT INTO wide SELECT i, hex(randomblob(8)), hex(zeroblob(2000)) FROM n`,
  `${numbers(2_000)} INSERT INTO few SELECT i, 'label ' || i FROM n`,
  `${numbers(parents)} INSERT INTO parents SELECT i FROM n`,
  `${numbers(narrowRows)} INSERT INTO children SELECT i, 1 + i % ${parents} FROM n`,
  // The user has a seat in so many rooms that these and their letters are just within what a list may examine.
  `${numbers(Math.min(49_000, narrowRows))} INSERT INTO seats SELECT i, u.id FROM n, _users u`,
  `${numbers(narrowRows)} INSERT INTO letters SELECT i, 1 + (i * 7919) % ${narrowRows}, hex(randomblob(8)) FROM n`,
  `${numbers(wideRows)} INSERT INTO papers SELECT 'paper ' || i, 'common ' || i, 'text ' || hex(randomblob(16)) FROM n`,
];

interface Probed {
  readonly milliseconds: readonly number[];
  readonly failures: number;
  readonly residentMb: number;
}

/** Asks the server for little while `work` is under way. */
async function beside<T>(server: SpawnedServer, token: string, work: () => Promise<T>) {
  const args = ["test/faults/prober.js", server.url, "/api/narrow/1", token, String(server.process.pid)];
  const prober = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const printed = text(prober.stdout);
  const result = await work();
  prober.stdin.end();
  return { result, probed: JSON.parse(await printed) as Probed };
}

interface Asked {
  readonly status: number;
  readonly code: string | null;
  readonly ms: number;
}

async function ask(url: string, path: string, method: string, token: string | null): Promise<Asked> {
  const fromMs = performance.now();
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(url + path, { method, headers });
  const body = await response.text();
  const ms = performance.now() - fromMs;
  const code = response.ok ? null : (JSON.parse(body) as { error: { code: string } }).error.code;
  return { status: response.status, code, ms };
}

interface Case {
  readonly name: string;
  readonly who: "anonymous" | "user" | "key";
  readonly path: (i: number) => string;
  readonly method?: string;
  /** The outcomes that are right, as status and code. */
  readonly may: readonly string[];
}

const read = ["200", "503 deadline_exceeded", "429 rate_limited"];
const needle = "x".repeat(64);
const cases: readonly Case[] = [
  { name: "an `exists` that no index serves", who: "user", path: () => "/api/few", may: read },
  {
    name: "the same for a single row",
    who: "user",
    path: (i) => `/api/few/${i + 1}`,
    may: [...read, "403 forbidden"],
  },
  {
    name: "a sort without an index, over as many rows as allowed",
    who: "anonymous",
    path: (i) => `/api/wide?sort=-label,body&offset=${9_000 - i}&limit=1000&filter[id][lte]=99999`,
    may: [...read, "400 bad_request"],
  },
  {
    name: "`contains` of 64 bytes",
    who: "anonymous",
    path: (i) => `/api/wide?filter[body][contains]=${needle.slice(i % 20)}`,
    may: [...read, "400 bad_request"],
  },
  {
    name: "a filter that no index serves",
    who: "anonymous",
    path: (i) => `/api/narrow?filter[filling][ne]=${i}&sort=-id`,
    may: read,
  },
  {
    name: "groups of wide texts, one row each",
    who: "anonymous",
    path: (i) =>
      `/api/wide/_svc/aggregate?group=label,body&max=body&sort=-max_body&limit=1&filter[id][lte]=${99_999 - i}`,
    may: [...read, "400 bad_request"],
  },
  { name: "all rows, with total", who: "anonymous", path: () => "/api/narrow", may: read },
  { name: "a list over 49,000 rooms, by ways", who: "user", path: () => "/api/letters", may: read },
  {
    name: "the same, in descending order and without total",
    who: "user",
    path: (i) => `/api/letters?sort=-id&total=none&offset=${i}`,
    may: read,
  },
  {
    name: "the same, sorted without an index",
    who: "user",
    path: (i) => `/api/letters?sort=label&offset=${i}`,
    may: read,
  },
  {
    name: "a backward `expand` with `count`, past the scan limit",
    who: "user",
    path: (i) => `/api/parents?expand[children.parent_id][count]=true&offset=${i % 2}`,
    may: [...read, "400 bad_request"],
  },
  {
    name: "a backward `expand`, newest first, to rows that the caller may not read",
    who: "user",
    path: (i) => `/api/parents?expand[children.parent_id][sort]=-id&limit=${21 + (i % 10)}`,
    may: [...read, "400 bad_request"],
  },
  {
    name: "a search that all rows match, sorted",
    who: "anonymous",
    path: (i) => `/api/papers?search=${i % 2 === 0 ? "c" : "com"}&limit=1000&select=id`,
    may: [...read, "400 bad_request"],
  },
  { name: "a deep offset", who: "anonymous", path: (i) => `/api/narrow?offset=${90_000 + i}`, may: read },
  { name: "pages of 1,000 wide rows", who: "key", path: () => "/api/wide?limit=1000", may: read },
  {
    name: "a delete that cascades",
    who: "user",
    path: (i) => `/api/parents/${i + 1}`,
    method: "DELETE",
    may: ["200", "503 deadline_exceeded", "503 unavailable", "404 not_found", "429 rate_limited"],
  },
];

it("nobody waits for the dearest request of somebody else", async () => {
  const directory = projectDirectory(schema);
  writeFileSync(join(directory, "svc.toml"), config);
  svc(directory, ["schema", "apply"]);
  const ada = { email: "ada@example.com", password: "correct horse battery staple" };
  svc(directory, ["admin", "create-user", "--email", ada.email, "--password-stdin"], ada.password);
  const created = svc(directory, ["admin", "create-service-key", "--name", "test", "--scope", "resource:wide:read"]);
  const key = created.trim().split("\n").at(-1)!;
  const file = join(directory, ".svc/data.db");
  const database = openLibsql({ path: file, synchronous: "normal", commandLine: true });
  for (const sql of rows) await database.batch([{ sql, params: [] }]);
  await database.close();

  const server = await spawnServer(directory);
  const login = await fetch(`${server.url}/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(ada),
  });
  const { data } = (await login.json()) as { data: { access_token: string } };
  const tokens = { anonymous: null, user: data.access_token, key };
  let residentMb = 0;
  for (const { name, who, path, method = "GET", may } of cases)
    for (const atOnce of [1, 20]) {
      const from = atOnce === 1 ? 20 : 0;
      const { result, probed } = await beside(server, data.access_token, () =>
        Promise.all(Array.from({ length: atOnce }, (_, i) => ask(server.url, path(from + i), method, tokens[who]))),
      );
      const outcomes = result.map(({ status, code }) => (code === null ? `${status}` : `${status} ${code}`));
      expect(may, name).toEqual(expect.arrayContaining(outcomes));
      expect(probed.failures, name).toBe(0);
      residentMb = Math.max(residentMb, probed.residentMb);
      const [p99, max] = [0.99, 1].map((share) => quantile(probed.milliseconds, share).toFixed(0));
      figure(
        "long work",
        `${name}, ${atOnce} at once (${who})`,
        tallied(outcomes),
        `${Math.max(...result.map(({ ms }) => ms)).toFixed(0)} ms`,
        `${p99} ms, ${max} ms at most`,
        `${probed.residentMb.toFixed(0)} MB`,
      );
    }

  const unanswered = Array.from({ length: 20 }, () =>
    ask(server.url, "/api/few", "GET", tokens.user).catch(() => null),
  );
  await beside(server, data.access_token, async () => {});
  const fromMs = performance.now();
  expect(await server.end("SIGTERM")).toBe(0);
  figure(
    "long work",
    "SIGTERM during 20 long reads",
    "exit 0",
    `${(performance.now() - fromMs).toFixed(0)} ms`,
    "",
    "",
  );
  await Promise.all(unanswered);
});

/** How often each outcome came. */
function tallied(outcomes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(", ");
}
