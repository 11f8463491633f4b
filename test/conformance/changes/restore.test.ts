import { expect, test } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const notes = (more = "", table = "") => `
notes:
  history: forever${table}
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text }
    owner: { type: text, managed: created_by }
    made: { type: integer, managed: created_at }
    changed_by: { type: text, managed: updated_by }
    version: { type: integer, managed: version }
${more}`;
const config = `
usage.enabled = false
[rules.notes]
read = "row.owner = auth.id"
history = "row.owner = auth.id"
create = "new.owner = auth.id and new.body is not null"
update = "row.owner = auth.id"
delete = "row.owner = auth.id"
`;

interface Entry {
  readonly seq: unknown;
  readonly op: string;
  readonly changed?: readonly string[];
  readonly row: Readonly<Record<string, unknown>> | null;
}

async function world() {
  const server = await serve({ schema: notes(), config });
  const key = client(server, await apiKey(server, "project:backend"));
  const [ada, ben] = await Promise.all(
    ["ada", "ben"].map(async (id) => client(server, (await member(server, id)).bearer)),
  );
  return { server, key, ada: ada!, ben: ben! };
}

const apply = async (server: TestServer, text: string) =>
  expect(await applyChange(server.database, text, { allowDestructive: false, now: server.clock.now() })).toMatchObject({
    outcome: "applied",
  });
const historyOf = async (caller: Client, id: number) =>
  dataOf(await caller.get(`/api/notes/_svc/history?where[id]=${id}`)) as readonly Entry[];
const restore = (caller: Client, id: number, { seq }: Entry) =>
  caller.post("/api/notes/_svc/restore", { key: { id }, seq });
const created = async (caller: Client, body: string) =>
  (dataOf(await caller.post("/api/notes", { body })) as { id: number }).id;

test("columns that the table got later are left as they are, or get their default, and no earlier entry names them", async () => {
  const { server, ada, ben } = await world();
  const [kept, deleted] = [await created(ada, "a"), await created(ada, "x")];
  await ada.patch(`/api/notes/${kept}`, { body: "b" });
  await ada.patch(`/api/notes/${deleted}`, { body: "y" });
  await ada.delete(`/api/notes/${deleted}`);
  await apply(
    server,
    notes(`    unit: { type: text, not_null: true, default: piece }
    count: { type: integer, not_null: true, default: 0 }
    remark: { type: text }
`),
  );
  const [newest, first] = (await historyOf(ada, kept)) as [Entry, Entry];
  expect(newest).toMatchObject({ op: "update", changed: ["body", "version"] });
  await ada.patch(`/api/notes/${kept}`, { unit: "box", remark: "r" });
  const [added, before] = (await historyOf(ada, kept)) as [Entry, Entry];
  expect([added.changed, before.changed]).toEqual([
    ["version", "unit", "remark"],
    ["body", "version"],
  ]);
  expect(dataOf(await restore(ada, kept, first))).toMatchObject({ body: "a", unit: "box", count: 0, remark: "r" });
  const [, last] = (await historyOf(ada, deleted)) as [Entry, Entry];
  expect(dataOf(await restore(ada, deleted, last))).toMatchObject({ body: "y", unit: "piece", count: 0, remark: null });
  expect((await historyOf(ben, kept)).length).toBe(0);
});

test("who may create rows makes a deleted one again, with its key and with who created it and when", async () => {
  const { server, key, ada, ben } = await world();
  const id = await created(ada, "a");
  const before = dataOf(await ada.get(`/api/notes/${id}`)) as { version: number };
  server.clock.advance(60_000);
  expect((await ada.delete(`/api/notes/${id}`)).status).toBe(200);
  const [, first] = (await historyOf(ada, id)) as [Entry, Entry];
  server.clock.advance(60_000);
  const again = dataOf(await restore(ada, id, first)) as { version: number };
  expect({ ...again, version: 0 }).toEqual({ ...before, version: 0 });
  expect(again.version).not.toBe(before.version);
  // Nobody else may, though they may create rows.
  await ada.delete(`/api/notes/${id}`);
  expectRefusal(await restore(ben, id, first), 400, "bad_request");
  const [, , , sealed] = (await historyOf(key, id)) as readonly Entry[];
  expect(dataOf(await restore(key, id, sealed!))).toMatchObject({ id, owner: "ada", changed_by: null });
  // The rule decides.
  const none = await created(ada, "c");
  await key.patch(`/api/notes/${none}`, { body: null });
  await ada.delete(`/api/notes/${none}`);
  const [, emptied] = (await historyOf(ada, none)) as [Entry, Entry];
  expectRefusal(await restore(ada, none, emptied), 403, "forbidden");
});

test("a key that another row has got since is left to that row", async () => {
  const { key, ada } = await world();
  const id = await created(ada, "a");
  await ada.delete(`/api/notes/${id}`);
  const [, first] = (await historyOf(key, id)) as [Entry, Entry];
  await key.post("/api/notes", { id, body: "of another" });
  expectRefusal(await restore(key, id, first), 409, "conflict", ["id"]);
  expect(dataOf(await key.get(`/api/notes/${id}`))).toMatchObject({ body: "of another" });
  await key.delete(`/api/notes/${id}`);
  expect(dataOf(await restore(key, id, first))).toMatchObject({ id, body: "a", owner: "ada" });
});
