import { describe, expect, test } from "vitest";
import { type Answer, type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { accessTokenOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
notes:
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    owner: { type: text }
    text: { type: text, check: "length(text) < 20" }
    size: { type: real }
    data: { type: json }
    hidden: { type: boolean }
    secret: { type: text }
plain: { history: none, columns: { id: { type: integer, primary_key: true }, n: { type: integer } } }
`;
const config = `
[rules.notes]
read = "row.owner = auth.id and row.hidden is null"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
delete = "row.owner = auth.id"
[rules.notes.columns.secret]
read = "deny"
[rules.plain]
read = "deny"
create = "authenticated"
`;

async function world() {
  const server: TestServer = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  const ben = client(server, (await member(server, "ben")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, ann, ben, key };
}

const create = (values: object) => ({ op: "create", table: "notes", values: { owner: "ann", ...values } });
const update = (id: string, set: object, base?: object) => ({
  op: "update",
  table: "notes",
  key: { id },
  set,
  base,
});
const remove = (id: string, base?: object) => ({ op: "delete", table: "notes", key: { id }, base });
const push = (by: Client, first: number, ...mutations: readonly (readonly unknown[])[]) =>
  by.post("/api/_svc/push", {
    client: "c_1",
    mutations: mutations.map((operations, i) => ({ id: first + i, operations })),
  });

interface Pushed {
  readonly last_id: number;
  readonly results: readonly Readonly<Record<string, unknown>>[];
}
const pushed = (answer: Answer) => dataOf<Pushed>(answer);
const metaOf = (answer: Answer) => (answer.body as { meta: object }).meta;

describe("mutations", () => {
  test("are applied in order, each once, each as one transaction", async () => {
    const { server, ann } = await world();
    const mutations = [
      [create({ id: "a", text: "one", data: { n: 1 } }), create({ id: "b", size: 0.1 })],
      [update("a", { text: "two" }), remove("b")],
      [create({ id: "h", hidden: true }), { op: "create", table: "plain", values: { n: 1 } }],
    ];
    const answer = await push(ann, 1, ...mutations);
    const note = { owner: "ann", text: null, size: null, data: null, hidden: null };
    expect(pushed(answer)).toEqual({
      last_id: 3,
      results: [
        {
          id: 1,
          status: "applied",
          rows: [
            { ...note, id: "a", text: "one", data: { n: 1 } },
            { ...note, id: "b", size: 0.1 },
          ],
        },
        { id: 2, status: "applied", rows: [{ ...note, id: "a", text: "two", data: { n: 1 } }, { id: "b" }] },
        { id: 3, status: "applied", rows: [null, null] },
      ],
    });
    expect(metaOf(answer)).toMatchObject({ rows_read: 2, rows_written: 6, rows_returned: 4 });
    expect(await rowsOf(server, "SELECT client, mutation FROM _transactions ORDER BY id")).toEqual([
      ["c_1", 1],
      ["c_1", 2],
      ["c_1", 3],
    ]);
    const again = await push(ann, 1, ...mutations, [update("a", { size: 2 })]);
    expect(pushed(again)).toMatchObject({
      last_id: 4,
      results: [
        { id: 1, status: "duplicate" },
        { id: 2, status: "duplicate" },
        { id: 3, status: "duplicate" },
        { id: 4, status: "applied", rows: [{ id: "a", size: 2 }] },
      ],
    });
    expect(metaOf(again)).toMatchObject({ rows_read: 1, rows_written: 1, rows_returned: 1 });
    expect(await rowsOf(server, "SELECT count(*) FROM notes")).toEqual([[2]]);
  });

  test("that conflict say which fields, and what the row is, and do not stop what follows", async () => {
    const { ann, key } = await world();
    await push(ann, 1, [create({ id: "a", text: "one", size: 1, data: { b: 1, a: [1.0] } })]);
    await key.patch("/api/notes/a", { text: "theirs", secret: "s" });
    const stale = [
      create({ id: "z" }),
      update("a", { text: "mine" }, { text: "one", size: 1, data: { b: 1, a: [1] } }),
    ];
    const answer = await push(
      ann,
      2,
      stale,
      [remove("a", { text: "one", size: 2 })],
      [update("a", { text: "ours" }, { text: "theirs", hidden: null })],
    );
    const current = { id: "a", owner: "ann", text: "theirs", size: 1, data: { b: 1, a: [1] }, hidden: null };
    const error = { code: "conflict", message: expect.any(String) };
    const conflicts = [
      { id: 2, status: "conflict", operation: 1, error, fields: ["text"], current },
      { id: 3, status: "conflict", operation: 0, error, fields: ["text", "size"], current },
    ];
    expect(pushed(answer)).toEqual({
      last_id: 4,
      results: [...conflicts, { id: 4, status: "applied", rows: [{ ...current, text: "ours" }] }],
    });
    expect(dataOf(await ann.get("/api/notes"))).toEqual([{ ...current, text: "ours" }]);
    // Sent again, they are refused for the same reason, whatever the row is by now.
    const now = { ...current, text: "ours" };
    expect(pushed(await push(ann, 2, stale)).results).toEqual([{ ...conflicts[0], current: now }]);
  });

  test("that are refused are so for good", async () => {
    const { server, ann, ben } = await world();
    await push(ann, 1, [create({ id: "a", text: "one" })], [create({ id: "h", text: "one", hidden: true })]);
    const bad: readonly [unknown, string, string[]?][] = [
      [update("none", { text: "x" }), "not_found"],
      [update("h", { text: "x" }, { text: "one" }), "not_found"],
      [update("h", { text: "x" }, { text: "no" }), "not_found"],
      [update("a", { text: "far too long for the check" }), "bad_request", ["text"]],
      [create({ id: "a" }), "conflict", ["id"]],
      [create({ owner: "ben" }), "forbidden"],
      [create({ no: 1 }), "bad_request"],
      [update("a", { text: "x" }, { secret: "s" }), "bad_request"],
      [{ op: "create", table: "nowhere", values: {} }, "not_found"],
      [{ op: "create", table: "_users", values: {} }, "not_found"],
      [{ op: "delete", table: "plain", key: { id: 1 } }, "forbidden"],
      ["x", "bad_request"],
    ];
    const answer = await push(ann, 3, ...bad.map(([operation]) => [create({ id: "z" }), operation]));
    const { results, last_id } = pushed(answer);
    expect(last_id).toBe(2 + bad.length);
    expect(results).toEqual(
      bad.map(([, code, columns], i) => ({
        id: 3 + i,
        status: "rejected",
        operation: 1,
        error: { code, message: expect.any(String), ...(columns && { columns }) },
      })),
    );
    expect(await rowsOf(server, "SELECT id FROM notes ORDER BY id")).toEqual([["a"], ["h"]]);
    // The cause is gone, and yet it stays refused.
    await run(server, "INSERT INTO notes (id, owner) VALUES ('none', 'ann')");
    const [again] = pushed(await push(ann, 3, [create({ id: "z" }), bad[0]![0]])).results;
    expect(again).toEqual(results[0]);
    // Another user's row: neither what it is nor that it is there is told by a base.
    const [other] = pushed(await push(ben, 1, [update("a", { text: "x" }, { text: "one" })])).results;
    expect(other).toMatchObject({ status: "rejected", error: { code: "not_found" } });
  });

  test("have ids that count up by one, and are the same under the same id", async () => {
    const { server, ann, ben } = await world();
    const gap = (answer: Answer, expected: number) => {
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ error: { code: "conflict", expected } });
    };
    const one = [create({ id: "a" })];
    gap(await push(ann, 2, one), 1);
    await push(ann, 1, one);
    gap(await push(ann, 3, [create({ id: "c" })]), 2);
    gap(
      await ann.post("/api/_svc/push", {
        client: "c_1",
        mutations: [
          { id: 2, operations: [create({ id: "b" })] },
          { id: 4, operations: [create({ id: "d" })] },
        ],
      }),
      3,
    );
    expectRefusal(await push(ann, 1, [create({ id: "x" })], [create({ id: "y" })]), 422, "idempotency_mismatch");
    expect(await rowsOf(server, "SELECT id FROM notes")).toEqual([["a"]]);
    // Clients are named within their caller.
    expect(pushed(await push(ben, 1, [create({ id: "b", owner: "ben" })])).last_id).toBe(1);
    expect(pushed(await push(ann, 2, [create({ id: "c" })])).last_id).toBe(2);
  });

  test("are told of beside the state that they are in", async () => {
    const { server, ann, ben } = await world();
    const pull = async (by: Client, body: object = {}) =>
      dataOf<{ changes: unknown[]; clients?: unknown; more: boolean; checkpoint: string }>(
        await by.post("/api/_svc/pull", { tables: { notes: {} }, ...body }),
      );
    expect(await pull(ann)).not.toHaveProperty("clients");
    await push(ann, 1, [create({ id: "a" })], [create({ id: "b" })], [update("none", { text: "x" })]);
    await ann.post("/api/_svc/push", {
      client: "other",
      mutations: [{ id: 1, operations: [create({ id: "c" })] }],
    });
    const first = await pull(ann, { limit: 2 });
    expect([first.changes.length, first.more, first.clients]).toEqual([2, true, undefined]);
    const second = await pull(ann, { checkpoint: first.checkpoint });
    expect([second.changes.length, second.more, second.clients]).toEqual([1, false, { c_1: 3, other: 1 }]);
    expect(await pull(ben)).not.toHaveProperty("clients");
    server.clock.advance(86_400_001);
    const later = client(server, { Authorization: `Bearer ${await accessTokenOf(server, "ann")}` });
    expect(await pull(later)).not.toHaveProperty("clients");
  });

  test("that come twice at once are applied once", async () => {
    const { server, ann } = await world();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => push(ann, 1, [create({ text: "a" })], [create({ text: "b" })])),
    );
    const statuses = answers.flatMap((answer) => pushed(answer).results.map(({ status }) => status));
    expect(statuses.filter((status) => status === "applied")).toHaveLength(2);
    expect(new Set(statuses)).toEqual(new Set(["applied", "duplicate"]));
    expect(await rowsOf(server, "SELECT count(*) FROM notes")).toEqual([[2]]);
  });

  test("older than a thousand are duplicates without detail", async () => {
    const { server, ann } = await world();
    await push(ann, 1, [update("none", { text: "x" })]);
    await run(server, "UPDATE _push_clients SET last_id = 1000");
    expect(pushed(await push(ann, 1, [update("none", { text: "x" })])).results[0]).toMatchObject({
      status: "rejected",
    });
    await push(ann, 1001, [create({ id: "a" })]);
    expect(pushed(await push(ann, 1, [update("none", { text: "x" })]))).toEqual({
      last_id: 1001,
      results: [{ id: 1, status: "duplicate" }],
    });
  });

  test("of a key that may write none of their tables are refused as a whole, and nothing is recorded", async () => {
    const { server } = await world();
    const keyed = async (...scopes: string[]) => client(server, await apiKey(server, ...scopes));
    const plain = { op: "create", table: "plain", values: { n: 1 } };
    const mutations = [[create({ id: "a" })], [create({ id: "b" }), update("a", { text: "x" })]];
    for (const key of [
      await keyed("resource:notes:read"),
      await keyed("resource:plain:write"),
      await keyed("operation:notes"),
    ]) {
      expectRefusal(await push(key, 1, ...mutations), 403, "forbidden");
      expectRefusal(await push(key, 1, [create({}), { op: "create", table: "nowhere" }, "x"]), 403, "forbidden");
    }
    expectRefusal(await push(await keyed("resource:notes:read"), 1, ["x"]), 403, "forbidden");
    for (const table of ["notes", "_push_clients", "_push_results", "_transactions"])
      expect(await rowsOf(server, `SELECT count(*) FROM ${table}`)).toEqual([[0]]);
    // Where the key may write some of the tables, only the mutations of the others are refused.
    const some = await keyed("resource:plain:write");
    const answer = await push(some, 1, [create({ id: "a" })], [plain, create({})], [plain], ["x"]);
    const forbidden = { code: "forbidden", message: "the key lacks the scope resource:notes:write" };
    expect(pushed(answer).results).toEqual([
      { id: 1, status: "rejected", operation: 0, error: forbidden },
      { id: 2, status: "rejected", operation: 1, error: forbidden },
      { id: 3, status: "applied", rows: [{ id: 1, n: 1 }] },
      { id: 4, status: "rejected", operation: 0, error: { code: "bad_request", message: expect.any(String) } },
    ]);
  });

  test("of a user whom no rule lets write are refused as a whole", async () => {
    const server = await serve({ schema, config: '[rules.notes]\nread = "authenticated"\n' });
    const ann = client(server, (await member(server, "ann")).bearer);
    expectRefusal(await push(ann, 1, [create({})]), 403, "forbidden");
    expect(await rowsOf(server, "SELECT count(*) FROM _push_clients")).toEqual([[0]]);
  });

  test("of a key that may not read are answered with the key and what was sent", async () => {
    const { server } = await world();
    const key = client(server, await apiKey(server, "resource:notes:write"));
    const answer = await push(
      key,
      1,
      [create({ id: "a", text: "one", size: 0.1 }), update("a", { data: { n: 1 } })],
      [remove("a")],
    );
    expect(pushed(answer).results).toEqual([
      {
        id: 1,
        status: "applied",
        rows: [
          { id: "a", owner: "ann", text: "one", size: 0.1 },
          { id: "a", data: { n: 1 } },
        ],
      },
      { id: 2, status: "applied", rows: [{ id: "a" }] },
    ]);
    expect(metaOf(answer)).toMatchObject({ rows_written: 3, rows_returned: 3 });
  });

  test("that are no push are refused as a whole", async () => {
    const { server, ann } = await world();
    const operations = [create({})];
    const good = { client: "c_1", mutations: [{ id: 1, operations }] };
    for (const body of [
      {},
      [],
      { ...good, client: "" },
      { ...good, client: "a b" },
      { ...good, client: 1 },
      { ...good, x: 1 },
      { ...good, mutations: [] },
      { ...good, mutations: [{ id: 0, operations }] },
      { ...good, mutations: [{ id: 1.5, operations }] },
      { ...good, mutations: [{ id: 1, operations: [] }] },
      { ...good, mutations: [{ id: 1, operations, x: 1 }] },
      { ...good, mutations: Array.from({ length: 101 }, (_, i) => ({ id: i + 1, operations })) },
    ])
      expectRefusal(await ann.post("/api/_svc/push", body), 400, "bad_request");
    expectRefusal(
      await ann.post("/api/_svc/push", {
        ...good,
        mutations: [{ id: 1, operations: Array.from({ length: 1001 }, () => operations[0]) }],
      }),
      413,
      "payload_too_large",
    );
    expectRefusal(await client(server).post("/api/_svc/push", good), 401, "unauthorized");
    expect(await rowsOf(server, "SELECT count(*) FROM _push_clients")).toEqual([[0]]);
  });
});
