import { describe, expect, it } from "vitest";
import { type Client, client, dataOf } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const columns = (version: string) => `
    id: { type: text, primary_key: true }
    title: { type: text }
    parent_id: { type: text, references: { table: lists, on_delete: set_null } }
    made_by: { type: text, managed: created_by }
    changed_by: { type: text, managed: updated_by, references: { table: $users, on_delete: set_null } }
    also_by: { type: text, managed: updated_by, references: { table: profiles } }
    changed_at: { type: text, managed: updated_at }
    changed_secs: { type: integer, managed: updated_at }
${version}`;

/** Each task table has `title` and a list; they differ in whether rows have versions, and whether changes are logged. */
const schema = `
profiles: { columns: { id: { type: text, primary_key: true } } }
lists:
  columns: { id: { type: text, primary_key: true }, name: { type: text } }
  triggers:
    renamed: |
      after update of name on lists begin
        update logged set title = new.name where parent_id = new.id;
        update plain set title = new.name where parent_id = new.id;
        update unversioned set title = new.name where parent_id = new.id;
      end
logged:
  history: forever
  columns: ${columns("    version: { type: integer, not_null: true, managed: version }")}
  indexes: [{ columns: [parent_id] }]
plain:
  columns: ${columns("    version: { type: integer, not_null: true, managed: version }")}
  indexes: [{ columns: [parent_id] }]
unversioned:
  history: forever
  columns: ${columns("")}
  indexes: [{ columns: [parent_id] }]
$operations:
  retitle:
    params: { title: text }
    allow: "auth.id is not null"
    steps:
      - { sql: "update logged set title = :title" }
      - { sql: "update plain set title = :title" }
      - { sql: "update unversioned set title = :title" }
`;
const rules = ["logged", "plain", "unversioned", "lists"]
  .map((table) => {
    const history = ["logged", "unversioned"].includes(table) ? ["history"] : [];
    const actions = ["read", "create", "update", "delete", ...history].map((each) => `${each} = "authenticated"\n`);
    return `[rules.${table}]\n${actions.join("")}`;
  })
  .join("");
const tables = ["logged", "plain", "unversioned"];

async function world() {
  const server = await serve({ schema, config: rules });
  const [ada, ben] = await Promise.all(
    ["ada", "ben"].map(async (id) => client(server, (await member(server, id)).bearer)),
  );
  await run(server, "INSERT INTO profiles VALUES ('ada')");
  await ada!.post("/api/lists", { id: "l", name: "a" });
  for (const table of tables) await ada!.post(`/api/${table}`, { id: "t", title: "a", parent_id: "l" });
  server.clock.advance(61_234);
  return { server, ada: ada!, ben: ben! };
}

interface Task {
  readonly version?: number;
}

const taskOf = async (caller: Client, table: string) => dataOf<Task>(await caller.get(`/api/${table}/t`));
const tasksOf = (caller: Client) => Promise.all(tables.map((table) => taskOf(caller, table)));

function changedBy(server: TestServer, id: string | null) {
  const now = server.clock.now();
  return {
    made_by: "ada",
    changed_by: id,
    also_by: id === "ada" ? "ada" : null,
    changed_at: new Date(now).toISOString(),
    changed_secs: Math.floor(now / 1000),
  };
}

/** Every row was changed by `id`, now, once: its version is one more, and the log has one more entry, of this caller. */
async function expectChanged(
  server: TestServer,
  caller: Client,
  before: readonly Task[],
  id: string | null,
  row: object,
) {
  for (const [i, table] of tables.entries()) {
    const task = await taskOf(caller, table);
    expect(task, table).toMatchObject({ ...row, ...changedBy(server, id) });
    const raised = before[i]!.version;
    expect(task.version, table).toBe(raised === undefined ? undefined : raised + 1);
    if (table === "plain") continue;
    const history = dataOf<{ op: string; row: object }[]>(await caller.get(`/api/${table}/_svc/history?where[id]=t`));
    expect(
      history.map(({ op }) => op),
      table,
    ).toEqual(["update", "insert"]);
    expect(history[0]!.row, table).toEqual(task);
  }
  expect(await rowsOf(server, "SELECT count(*) AS n FROM _staged")).toEqual([[0]]);
}

describe("a row that is changed by other means than its own request has its managed columns set, once", () => {
  it.each(["ada", "ben"] as const)("by an operation that %s calls", async (id) => {
    const { server, ...callers } = await world();
    const caller = callers[id];
    const before = await tasksOf(caller);
    await caller.post("/ops/retitle", { title: "b" });
    await expectChanged(server, caller, before, id, { title: "b" });
  });

  it("by a trigger", async () => {
    const { server, ben } = await world();
    const before = await tasksOf(ben);
    expect((await ben.patch("/api/lists/l", { name: "c" })).status).toBe(200);
    await expectChanged(server, ben, before, "ben", { title: "c" });
  });

  it("by the action of a foreign key", async () => {
    const { server, ben } = await world();
    const before = await tasksOf(ben);
    expect((await ben.delete("/api/lists/l")).status).toBe(200);
    await expectChanged(server, ben, before, "ben", { parent_id: null });
  });

  it("by a batch, an array and a key, which is nobody", async () => {
    const { server, ben } = await world();
    const before = await tasksOf(ben);
    const key = client(server, await apiKey(server, "project:backend"));
    const operations = [{ op: "update", table: "lists", key: { id: "l" }, set: { name: "d" } }];
    expect((await key.post("/api/_svc/batch", { operations })).status).toBe(200);
    await expectChanged(server, ben, before, null, { title: "d" });
  });

  it("and requests for the row itself go on writing one row", async () => {
    const { server, ada } = await world();
    for (const table of tables)
      for (const title of ["e", "f", "f"]) {
        const answer = await ada.patch(`/api/${table}/t`, { title });
        expect(answer.body, table).toMatchObject({ data: changedBy(server, "ada"), meta: { rows_written: 1 } });
      }
  });
});
