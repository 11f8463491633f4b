import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, it, vi } from "vitest";
import { Random } from "../property/support/random.js";
import { type Json, referred } from "../support/documented.js";
import { figure } from "../support/figures.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { builtCommand, spawnServer } from "../support/spawned-server.js";

/**
 * Sends each endpoint of the OpenAPI document the largest bodies and parameters that it takes, in five shapes each, as
 * everybody, a user, a key and an administrator. No answer is a failure of the server, and the longest stretch for which its
 * thread computes is printed. `ENDPOINTS=all` asks all of them, else a few; `COMMAND` is another checkout's server.
 */
const command = process.env.COMMAND ?? builtCommand;
vi.setConfig({ testTimeout: 9_000_000 });

const schema = `
$history: 30d
$operations:
  swap:
    params: { from: text, to: text, many: { type: json } }
    allow: "auth.id is not null"
    steps: [{ sql: "update notes set body = replace(body, :from, :to) where id = 1" }]
  found:
    params: { word: text }
    allow: public
    steps: [{ sql: "select count(*) as n from notes where body like :word", returns: one, as: { n: integer } }]
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    body: { type: text }
    n: { type: integer }
    r: { type: real }
    j: { type: json }
    x: { type: blob }
    v: { type: integer, managed: version }
  search: [body]
  indexes: [{ columns: [owner] }]
comments:
  columns: { id: { type: integer, primary_key: true }, note_id: { type: integer, references: { table: notes, column: id } } }
  indexes: [{ columns: [note_id] }]
`;
const config = `
auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the fault tests, 32 bytes", throttle = { enabled = false } }
[rules.notes]
read = "public"
create = "auth.id is not null"
update = "auth.id is not null"
delete = "auth.id is not null"
history = "auth.id is not null"
[rules.comments]
read = "public"
create = "auth.id is not null"
update = "auth.id is not null"
delete = "auth.id is not null"
history = "auth.id is not null"
`;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  readonly contentType: string | null;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Documented {
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

const methods = ["get", "post", "patch", "delete", "query"] as const;
const bodyBytesMax = 1_048_576;

/** Texts of a little less than the most that a body may have. */
const bodies: Readonly<Record<string, string>> = {
  "an object of 75,000 members": `{${Array.from({ length: 75_000 }, (_, i) => `"k${i}":{}`).join()}}`,
  "an array of 199,000 items": `[${Array.from({ length: 199_000 }, () => "1").join()}]`,
  "1,000 rows": JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ n: i, body: "x".repeat(900), r: 0.1 }))),
  "members with long texts": JSON.stringify({
    ...Object.fromEntries(
      ["schema", "body", "from", "to", "email", "password", "key"].map((name) => [name, "a: *b\n".repeat(20_000)]),
    ),
  }),
  "nested arrays and filters": JSON.stringify({
    filter: { $or: Array.from({ length: 200 }, () => ({ n: { in: Array.from({ length: 45 }, (_, i) => i) } })) },
    tables: { notes: { filter: { n: { in: Array.from({ length: 1_000 }, (_, i) => i) } } }, comments: {} },
    operations: Array.from({ length: 100 }, (_, i) => ({
      action: "create",
      table: "notes",
      row: { body: "x".repeat(5_000), n: i },
    })),
    mutations: [{ id: 1, operations: Array.from({ length: 100 }, () => ({ table: "notes" })) }],
    checkpoint: null,
    j: Array.from({ length: 60 }).reduce<unknown>(
      (inner) => [inner],
      Array.from({ length: 50_000 }, (_, i) => i),
    ),
  }),
};

/** Values of query parameters, whose line may have 128 KiB. */
const values: Readonly<Record<string, string>> = {
  long: "x".repeat(60_000),
  words: Array.from({ length: 32 }, (_, i) => `word${i}`).join("%20"),
  numbers: Array.from({ length: 1_000 }, (_, i) => i).join(),
  commas: ",".repeat(60_000),
  brackets: `[${"[".repeat(60)}${"1,".repeat(20_000)}1${"]".repeat(60)}]`,
};

it("no endpoint takes the server away from others", async () => {
  const directory = projectDirectory(schema);
  writeFileSync(join(directory, "svc.toml"), config);
  svc(directory, ["schema", "apply"]);
  for (const [name, role] of [
    ["root", "admin"],
    ["ada", "user"],
  ] as const)
    svc(
      directory,
      ["admin", "create-user", "--email", `${name}@example.com`, "--role", role, "--password-stdin"],
      "correct horse",
    );
  const made = svc(directory, ["admin", "create-service-key", "--name", "test", "--scope", "project:backend"]);
  const database = new Libsql(join(directory, ".svc/data.db"));
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO notes (id, owner, body, n, r) SELECT i, 'o' || i % 10, 'word' || i || ' text', i, i / 7.0 FROM n;
    INSERT INTO comments (note_id) SELECT id FROM notes`);
  database.close();
  const server = await spawnServer(directory, "ignore", "./test/faults/stretches.js", command);
  const tokenOf = async (name: string) => {
    const body = JSON.stringify({ email: `${name}@example.com`, password: "correct horse" });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${server.url}/auth/login`, { method: "POST", headers, body });
    const { data } = (await answer.json()) as { data: { access_token: string } };
    return { Authorization: `Bearer ${data.access_token}` };
  };
  const root = await tokenOf("root");
  const callers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    everybody: {},
    "a user": await tokenOf("ada"),
    "a key": { Authorization: `Bearer ${made.trim().split("\n").at(-1)}` },
    "an administrator": root,
  };
  const document = (await (await fetch(`${server.url}/openapi.json`, { headers: root })).json()) as Json;
  const operations = Object.entries(document.paths as unknown as Record<string, Record<string, Documented>>).flatMap(
    ([path, item]) =>
      methods.flatMap((method): Operation[] => {
        const known = item[method];
        if (known === undefined) return [];
        const parameters = (known.parameters ?? [])
          .map((each) => referred(document, each) as unknown as Parameter)
          .filter((each) => each.in === "query")
          .map(({ name }) => name);
        const [contentType = null] = Object.keys(known.requestBody?.content ?? {});
        return [{ method: method.toUpperCase(), path, parameters, contentType }];
      }),
  );
  expect(operations.length).toBeGreaterThan(30);

  /** What would end the session, the stream or the test. */
  const leftOut = /\/logout|\/live$|\/auth\/me$|reset|revoke/;
  const longest: (readonly [name: string, ms: number])[] = [];
  const failures: string[] = [];
  const random = new Random(Random.seedOfRun());
  const asked = operations.filter(({ path }) => !leftOut.test(path));
  const some = process.env.ENDPOINTS === "all" ? asked : random.shuffled(asked).slice(0, 2);
  for (const { method, path, parameters, contentType } of some) {
    server.process.send("begin");
    for (const [caller, credential] of Object.entries(callers)) {
      const shapes = contentType === null ? Object.keys(values) : Object.keys(bodies);
      for (const shape of shapes) {
        const inPath = path.replaceAll(/\{\w+\}/g, "1");
        const query =
          contentType === null && parameters.length > 0
            ? `?${parameters.slice(0, 1).map((name) => `${name}=${values[shape]}`)}`
            : "";
        const body = contentType === null ? undefined : bodies[shape]!;
        expect(body?.length ?? 0).toBeLessThanOrEqual(bodyBytesMax);
        const headers = { ...credential, ...(contentType !== null && { "Content-Type": contentType }) };
        const answer = await fetch(server.url + inPath + query, {
          method,
          headers,
          ...(body !== undefined && { body }),
        });
        await answer.arrayBuffer();
        if (answer.status === 500) failures.push(`${method} ${path} ${shape} by ${caller}`);
      }
    }
    const said = once(server.process, "message");
    server.process.send("end");
    const [{ longestMs }] = (await said) as [{ longestMs: number }];
    longest.push([`${method} ${path}`, longestMs]);
  }
  expect(failures).toEqual([]);
  const slowest = longest.toSorted((a, b) => b[1] - a[1]).slice(0, 8);
  if (some === asked) for (const [name, ms] of slowest) figure("endpoints", `\`${name}\``, `${ms.toFixed(0)} ms`);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  await server.end("SIGTERM");
});
