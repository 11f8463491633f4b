import { expect, test } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import type { Pulled } from "../../support/copy.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

// A view has members, each of which is told under a name of its own.

const schema = `
$history: forever
tasks:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    done: { type: boolean, not_null: true, default: false }
people:
  columns: { id: { type: text, primary_key: true } }
secrets:
  columns: { id: { type: integer, primary_key: true } }
notes:
  columns: { id: { type: integer, primary_key: true } }
`;
const config = `
usage.enabled = false
rules.tasks.read = "public"
rules.people.read = "auth.role = 'admin'"
rules.notes.read = "public"
rules.secrets.read = "auth.role = 'admin'"
`;

async function tasks() {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  for (const [id, owner] of ["ann", "ben", "ann"].entries()) await key.post("/api/tasks", { id: id + 1, owner });
  return { server, key, ann: client(server, (await member(server, "ann")).bearer) };
}

interface Page extends Pulled {
  readonly fresh?: readonly string[];
  readonly refused?: Readonly<Record<string, { readonly code: string }>>;
}

async function pull(caller: Client, tables: object, checkpoint: string | null, limit = 500): Promise<Page> {
  return dataOf(await caller.post("/api/_svc/pull", { tables, checkpoint, limit })) as unknown as Page;
}

const told = ({ changes }: Page) => changes.map(({ table, op, key }) => `${op} ${table} ${Object.values(key)}`);

const mine = { table: "tasks", where: { owner: "ann" } };
const open = { table: "tasks", where: { done: false }, select: ["id"] };

test("two members of one table are told under their names", async () => {
  const { key, ann } = await tasks();
  const first = await pull(ann, { mine, open }, null);
  expect(first).toMatchObject({ fresh: ["mine", "open"], reset: null, more: false });
  expect(told(first)).toEqual(["insert mine 1", "insert mine 3", "insert open 1", "insert open 2", "insert open 3"]);
  await key.patch("/api/tasks/3", { done: true });
  const next = await pull(ann, { mine, open }, first.checkpoint);
  expect(next.changes).toEqual([
    { table: "mine", op: "update", key: { id: 3 }, row: { id: 3, owner: "ann", done: true } },
    { table: "open", op: "remove", key: { id: 3 } },
  ]);
  expect(next).not.toHaveProperty("fresh");
});

test("a member that is added, or asks for something else, is told whole, and the others go on", async () => {
  const { key, ann } = await tasks();
  const first = await pull(ann, { mine }, null);
  await key.patch("/api/tasks/1", { done: true });
  const second = await pull(ann, { open, mine }, first.checkpoint);
  expect(second).toMatchObject({ fresh: ["open"], reset: null, more: false });
  expect(told(second).sort()).toEqual(["insert open 2", "insert open 3", "update mine 1"]);
  const other = { ...open, where: { done: true } };
  const third = await pull(ann, { mine, open: other }, second.checkpoint);
  expect(third).toMatchObject({ fresh: ["open"], reset: null });
  expect(told(third)).toEqual(["insert open 1"]);
  // The same rows under another name are another member.
  const fourth = await pull(ann, { own: mine, open: other }, third.checkpoint);
  expect(fourth).toMatchObject({ fresh: ["own"], reset: null });
  expect(told(fourth)).toEqual(["insert own 1", "insert own 3"]);
  // What is not asked for any more is forgotten without a word, in whichever order the others are asked for.
  await key.patch("/api/tasks/1", { done: false });
  const fifth = await pull(ann, { open: other }, fourth.checkpoint);
  expect(fifth).not.toHaveProperty("fresh");
  expect(told(fifth)).toEqual(["remove open 1"]);
});

test("each page of a round that begins members names them, the last one too", async () => {
  const { key, ann } = await tasks();
  const first = await pull(ann, { mine }, null);
  await key.patch("/api/tasks/1", { done: true });
  const both = { mine, open: { table: "tasks" } };
  let { checkpoint } = first;
  const pages: Page[] = [];
  do {
    pages.push(await pull(ann, both, checkpoint, 1));
    checkpoint = pages.at(-1)!.checkpoint;
  } while (pages.at(-1)!.more);
  expect(pages.length).toBeGreaterThan(2);
  for (const { fresh } of pages) expect(fresh).toEqual(["open"]);
  expect(pages.flatMap(told).sort()).toEqual(["insert open 1", "insert open 2", "insert open 3", "update mine 1"]);
  expect(await pull(ann, both, checkpoint)).not.toHaveProperty("fresh");
});

test("an empty member is fresh as well, and a waiting pull tells of it at once", async () => {
  const { ann } = await tasks();
  const { checkpoint } = await pull(ann, { mine }, null);
  const none = { table: "tasks", where: { owner: "nobody" } };
  const body = { tables: { mine, none }, checkpoint, wait_ms: 25_000 };
  expect(dataOf(await ann.post("/api/_svc/pull", body))).toMatchObject({ fresh: ["none"], changes: [], more: false });
});

test("a member that is refused is named with the reason, and the others go on", async () => {
  const { ann, server } = await tasks();
  const asked = { mine, gone: { table: "unknown" }, secrets: {}, odd: { table: "tasks", where: { no: 1 } } };
  const page = await pull(ann, asked, null);
  expect(page.refused).toMatchObject({
    gone: { code: "not_found" },
    secrets: { code: "forbidden" },
    odd: { code: "bad_request" },
  });
  expect(page.fresh).toEqual(["mine"]);
  expect(told(page)).toEqual(["insert mine 1", "insert mine 3"]);
  const reader = client(server, await apiKey(server, "resource:tasks:read"));
  expect((await pull(reader, { tasks: {}, people: {} }, null)).refused).toEqual({
    people: expect.objectContaining({ code: "forbidden" }),
  });
  // Where all are refused, the request is.
  const body = { tables: { gone: { table: "unknown" } }, checkpoint: null };
  expectRefusal(await ann.post("/api/_svc/pull", body), 404, "not_found");
});

test("a member whose table goes is refused from then on, and told anew when it is back", async () => {
  const { server, ann } = await tasks();
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/people", { id: "a" });
  const asked = { tasks: {}, people: {} };
  const first = await pull(key, asked, null);
  const without = schema.replace(/people:\n.*\n/, "");
  const apply = (text: string) => applyChange(server.database, text, { allowDestructive: true, now: 1 });
  expect(await apply(without)).toMatchObject({ outcome: "applied" });
  const body = { tables: asked, checkpoint: first.checkpoint, wait_ms: 25_000 };
  const second = dataOf(await key.post("/api/_svc/pull", body)) as unknown as Page;
  expect(second).toMatchObject({ refused: { people: { code: "not_found" } }, reset: null, changes: [] });
  expect(await apply(schema)).toMatchObject({ outcome: "applied" });
  const third = await pull(key, asked, second.checkpoint);
  expect(third).toMatchObject({ fresh: ["people"], reset: null, changes: [] });
  expect(third).not.toHaveProperty("refused");
  expect((await pull(ann, { tasks: {} }, null)).changes).toHaveLength(3);
});

test("a round in which members began names them to its end, also where only others are asked for then", async () => {
  const { key, ann } = await tasks();
  const first = await pull(ann, { mine }, null, 1);
  expect(first).toMatchObject({ more: true, fresh: ["mine"] });
  const second = await pull(ann, { mine, open }, first.checkpoint, 2);
  expect(second).toMatchObject({ more: true, fresh: ["mine", "open"] });
  const body = { tables: { mine }, checkpoint: second.checkpoint, wait_ms: 25_000 };
  const last = dataOf(await ann.post("/api/_svc/pull", body)) as unknown as Page;
  expect(last).toMatchObject({ more: false, fresh: ["mine"] });
  await key.patch("/api/tasks/1", { done: true });
  expect(told(await pull(ann, { mine }, last.checkpoint))).toEqual(["update mine 1"]);
});

test("a waiting pull tells at once of a member that is refused, and waits where the client knows it", async () => {
  const { ann } = await tasks();
  const { checkpoint } = await pull(ann, { mine }, null);
  const body = { tables: { mine, secrets: {} }, wait_ms: 25_000 };
  const refused = dataOf(await ann.post("/api/_svc/pull", { ...body, checkpoint })) as unknown as Page;
  expect(refused).toMatchObject({ refused: { secrets: { code: "forbidden" } }, changes: [] });
  const again = await pull(ann, { mine, secrets: {} }, refused.checkpoint);
  expect(again).toMatchObject({ refused: { secrets: {} }, changes: [] });
});

test("a table whose log begins later than the checkpoint starts no other member anew", async () => {
  const { server, ann, key } = await tasks();
  const { checkpoint } = await pull(ann, { mine }, null);
  await key.patch("/api/tasks/1", { done: true });
  await run(server, "UPDATE _history SET floor = (SELECT max(seq) FROM _changes) WHERE tbl = 'notes'");
  const both = await pull(ann, { mine, notes: {} }, checkpoint);
  expect(both).toMatchObject({ reset: null, fresh: ["notes"] });
  expect(told(both).filter((change) => !change.includes("notes"))).toEqual(["update mine 1"]);
});

test("what cannot be members is refused", async () => {
  const { ann } = await tasks();
  const refused = async (tables: unknown) =>
    expectRefusal(await ann.post("/api/_svc/pull", { tables }), 400, "bad_request");
  const of = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, { table: "tasks" }]));
  await refused(of(41));
  expect((await pull(ann, of(40), null)).fresh).toHaveLength(40);
  await refused({ mine: { table: 5 } });
  await refused({ mine: { ...mine, offset: 1 } });
  await refused({ mine: null });
  await refused({ ["n".repeat(101)]: mine });
});
