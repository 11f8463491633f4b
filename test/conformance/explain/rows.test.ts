import { expect, it } from "vitest";
import type { Explanation } from "../../../src/wire/explanation.js";
import { digestOf } from "../../property/explain/verdicts.js";
import { run } from "../../support/people.js";
import { config, newWorld } from "./project.js";

const ada = { user: "ada" };

/** The terms with the line that they are said to stand in, as far as it goes on with them. */
function litOf({ terms }: Explanation): readonly (readonly unknown[])[] {
  const lines = config.split("\n");
  return terms.map(({ text, line, column, truth, row, unfinished, path }) => {
    const [first] = text.split("\n");
    expect(lines[line! - 1]!.slice(column! - 1)).toContain(first);
    expect(lines[line! - 1]!.startsWith(first!, column! - 1)).toBe(true);
    return [path, text, unfinished ? "unfinished" : truth, ...(row === undefined ? [] : [row])];
  });
}

const readRule = "rules.messages.read";
const member = "exists(members m where m.room_id = room and m.user_id = auth.id)";

it("a row that may be read, and one that may not", async () => {
  const { explain, ada: caller } = await newWorld();
  const allowed = await explain({ as: ada, action: "read", table: "messages", key: { id: 1 } });
  expect(allowed).toMatchObject({
    allowed: true,
    reason: "the rule is TRUE",
    refusal: null,
    rule: { name: readRule, text: "auth.role = 'admin' or member(row.room_id)" },
    values: {},
    not_judged: [],
    way: "by messages.id",
    indexes: [],
    rows_read: 2,
  });
  expect(litOf(allowed)).toEqual([
    [readRule, "auth.role = 'admin'", false],
    [readRule, "member(row.room_id)", true],
    ["conditions.member(room)", member, true],
  ]);
  expect(allowed.columns.note).toEqual({ read: false, write: false });
  expect(allowed.columns.body).toEqual({ read: true, write: true });
  expect(allowed.columns.id).toEqual({ read: true, write: false });
  expect(allowed.columns.version).toEqual({ read: true, write: false });
  expect(allowed.sql).toMatch(/^SELECT .* FROM "messages"/);
  expect(allowed.plan.map(({ index }) => index)).toContain("INTEGER PRIMARY KEY");
  expect(allowed.plan.some(({ detail }) => detail.startsWith("SEARCH _t"))).toBe(true);
  expect(allowed).not.toHaveProperty("counts");

  const denied = await explain({ as: ada, action: "read", table: "messages", key: "3" });
  const refusal = { status: 403, code: "forbidden", message: "the rules of this table do not allow it" };
  expect(denied).toMatchObject({
    allowed: false,
    reason: "the rules of this table do not allow it: the rule is FALSE",
    refusal,
  });
  expect(litOf(denied).map(([, , truth]) => truth)).toEqual([false, false, false]);
  expect((await caller.get("/api/messages/3")).body).toEqual({
    error: { code: refusal.code, message: refusal.message },
  });
});

it("an update: both times, with what the server sets, and what decides by doing", async () => {
  const { server, explain } = await newWorld();
  const digest = await digestOf(server.database);
  const before = await digest();
  const asked = { as: ada, action: "update", table: "messages", key: { id: 2 } };
  const moved = await explain({ ...asked, values: { room_id: 1, author_id: "bob" } });
  const path = "rules.messages.update";
  expect(litOf(moved)).toEqual([
    [path, "row.author_id = auth.id", true, "before"],
    [path, "new.room_id = old.room_id", false, "before"],
    [path, "row.author_id = auth.id", false, "after"],
    [path, "new.room_id = old.room_id", false, "after"],
  ]);
  expect(moved).toMatchObject({ allowed: false, refusal: { status: 403, code: "forbidden" } });
  expect(moved.values).toEqual({
    changed_at: Math.floor(server.clock.now() / 1000),
    version: expect.any(Number),
  });
  expect(moved.not_judged).toEqual([
    { kind: "not_null", columns: ["room_id"], text: null },
    { kind: "not_null", columns: ["author_id"], text: null },
    { kind: "foreign_key", columns: ["room_id"], text: "rooms" },
    {
      kind: "trigger",
      columns: [],
      text: "before update on messages when new.body = '' begin select raise(abort, 'say something'); end",
    },
  ]);
  expect(moved.sql).toMatch(/^UPDATE OR ABORT "messages" SET "room_id" = \?/);

  const unmoved = await explain({ ...asked, values: { body: "new" } });
  expect(unmoved).toMatchObject({
    allowed: true,
    reason: "the rule is TRUE with the row before, and TRUE with the row after",
  });
  // Without values: may she change this row at all?
  const asIs = await explain(asked);
  expect(asIs).toMatchObject({ allowed: true, rows_read: 1, way: "by messages.id" });
  expect(asIs.sql).toMatch(/^SELECT 1 AS admitted FROM "messages"/);
  expect(await digest()).toBe(before);
});

it("a new row: defaults and managed columns are evaluated, and column rules come first", async () => {
  const { server, explain } = await newWorld();
  const digest = await digestOf(server.database);
  const before = await digest();
  const asked = { as: ada, action: "create", table: "messages" };
  const created = await explain({ ...asked, values: { room_id: 1, author_id: "ada" } });
  expect(created).toMatchObject({ allowed: true, reason: "the rule is TRUE", way: null, rows_read: 1 });
  expect(created.values).toEqual({
    token: expect.stringMatching(/^[0-9A-F]{16}$/),
    kind: "plain",
    changed_at: Math.floor(server.clock.now() / 1000),
    version: expect.any(Number),
  });
  expect(litOf(created)).toEqual([
    ["rules.messages.create", "new.author_id = auth.id", true],
    ["rules.messages.create", "member(new.room_id)", true],
    ["conditions.member(room)", member, true],
  ]);
  expect(created.not_judged.map(({ kind, columns }) => `${kind} ${columns}`)).toEqual([
    "not_null room_id",
    "not_null author_id",
    "check body",
    "unique id",
    "unique token",
    "foreign_key room_id",
  ]);
  expect(created.sql).toMatch(/INSERT OR ABORT INTO "messages"/);

  const hidden = await explain({ ...asked, values: { room_id: 1, author_id: "ada", note: "x" } });
  expect(hidden).toMatchObject({
    allowed: false,
    reason: "you may not write note",
    refusal: { status: 403, code: "forbidden", message: "you may not write note" },
    sql: null,
    plan: [],
  });
  expect(litOf(hidden)).toEqual([["rules.messages.columns.note.write", "auth.role = 'admin'", false]]);
  expect(await digest()).toBe(before);
});

it("a deletion: NULL is told from FALSE, and `not in` is one term", async () => {
  const { explain } = await newWorld();
  const denied = await explain({ as: ada, action: "delete", table: "messages", key: { id: 2 } });
  expect(denied).toMatchObject({
    allowed: false,
    reason: "the rules of this table do not allow it: the rule is NULL",
    sql: expect.stringMatching(/^DELETE FROM "messages"/),
    not_judged: [{ kind: "foreign_key", columns: [], text: "replies.message_id" }],
  });
  const path = "rules.messages.delete";
  expect(litOf(denied)).toEqual([
    [path, "row.author_id = auth.id", true],
    [path, "row.body not in ('', 'x')", null],
    [path, "row.note is null", false],
  ]);
});

it("a row that is not there: what reads no row is evaluated all the same", async () => {
  const { explain } = await newWorld();
  const missing = await explain({ as: ada, action: "read", table: "messages", key: { id: 99 } });
  expect(missing).toMatchObject({
    allowed: false,
    reason: "no such row",
    refusal: { status: 404, code: "not_found", message: "no such row" },
    rows_read: 0,
  });
  expect(litOf(missing).map(([, , truth]) => truth)).toEqual([false, "unfinished", "unfinished"]);
});

it("a rule that svc.toml does not have denies, and stands nowhere", async () => {
  const { explain } = await newWorld();
  const absent = await explain({ as: ada, action: "create", table: "replies", values: { id: 9 } });
  expect(absent).toMatchObject({
    allowed: false,
    reason: "the rules of this table let nobody create rows",
    rule: { name: "rules.replies.create", text: "deny", line: null, column: null },
    terms: [{ kind: "term", text: "deny", line: null, column: null, truth: false }],
  });
});

it("a list counts what its way offers and what the rule admits, and terms by rows", async () => {
  const { server, explain, ada: caller } = await newWorld();
  const list = await explain({ as: ada, action: "read", table: "messages" });
  expect(list).toMatchObject({
    allowed: true,
    reason: "the rules admit 1 of 3 rows",
    way: "by members.user_id, then messages.room_id",
    counts: { rows: 3, rows_truncated: false, allowed: 1, allowed_truncated: false, offered: 1 },
    indexes: [],
  });
  expect(list.rows_read).toBeGreaterThan(0);
  expect(list.terms.map(({ text, truth, counts }) => [text, counts ?? truth])).toEqual([
    ["auth.role = 'admin'", false],
    ["member(row.room_id)", { true: 1, false: 2, null: 0 }],
    [member, { true: 1, false: 2, null: 0 }],
  ]);
  const { body } = await caller.get("/api/messages");
  expect((body as { meta: { total: number } }).meta.total).toBe(list.counts!.allowed);

  const filtered = await explain({
    as: ada,
    action: "read",
    table: "replies",
    query: { where: { message_id: 1 }, sort: ["-id"], limit: 1 },
  });
  expect(filtered).toMatchObject({
    reason: "the rules admit 1 of 3 rows",
    counts: { rows: 3, allowed: 1 },
    way: "by asking the rule of each row",
    indexes: [{ table: "replies", columns: ["author_id"] }],
  });
  expect(filtered.terms.map(({ counts }) => counts)).toEqual([{ true: 1, false: 1, null: 1 }]);

  const none = await explain({
    as: ada,
    action: "read",
    table: "messages",
    query: { where: { room_id: 2 } },
  });
  expect(none).toMatchObject({
    reason: "the rules admit 0 of 2 rows",
    counts: { offered: expect.anything() },
  });
  // The column is hidden from the caller, though not from whoever asks.
  const hidden = await explain({
    as: ada,
    action: "read",
    table: "messages",
    query: { where: { note: "n" } },
  });
  expect(hidden).toMatchObject({ allowed: false, refusal: { status: 400, code: "bad_request" } });
  expect(server.log.lines).toEqual([]);
});

it("a list says where the scan limit has ended it", async () => {
  const { server, explain } = await newWorld("api.scan_limit = 10\n");
  const values = Array.from({ length: 20 }, (_, i) => `(${i + 10}, 1, 'bob')`).join();
  await run(server, `INSERT INTO replies VALUES ${values}`);
  const list = await explain({ as: ada, action: "read", table: "replies" });
  expect(list).toMatchObject({
    counts: { rows: 23, rows_truncated: false, allowed: 1, allowed_truncated: true, offered: 10 },
    reason: "the rules admit at least 1 of 23 rows",
  });
  const [term] = list.terms;
  expect(term!.counts).toEqual({ true: 1, false: 8, null: 1 });
});

it("a history counts versions, and lights up the row as it is now by both rules", async () => {
  const { explain, ada: caller } = await newWorld();
  await caller.patch("/api/messages/1", { body: "again" });
  const history = await explain({ as: ada, action: "history", table: "messages", key: { id: 1 } });
  expect(history).toMatchObject({
    allowed: true,
    reason: "the rules admit 2 of 2 versions",
    rule: { name: "rules.messages.history", text: "authenticated" },
    way: "by the row's key in the log of changes",
    counts: { rows: 2, allowed: 2 },
  });
  expect(litOf(history)).toEqual([
    ["rules.messages.history", "authenticated", true],
    [readRule, "auth.role = 'admin'", false],
    [readRule, "member(row.room_id)", true],
    ["conditions.member(room)", member, true],
  ]);
  const others = await explain({ as: ada, action: "history", table: "messages", key: { id: 3 } });
  expect(others).toMatchObject({ allowed: true, counts: { rows: 1, allowed: 0 } });
  const all = await explain({ as: ada, action: "history", table: "messages" });
  expect(all).toMatchObject({ counts: { rows: 4, allowed: 2 }, way: "by the log of changes" });
  const none = await explain({ as: ada, action: "history", table: "replies" });
  expect(none).toMatchObject({ allowed: false, refusal: { status: 404, code: "not_found" } });
  const anonymous = await explain({ as: { anonymous: true }, action: "history", table: "messages" });
  expect(anonymous).toMatchObject({
    allowed: false,
    refusal: { status: 401, code: "unauthorized" },
    rule: { name: readRule },
  });
});
