import { describe, expect, it } from "vitest";
import { type Answer, client, expectAnswer, expectRefusal, type ListMeta } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, onFile, onSqld, serve, skip } from "../../support/server.js";

/** docs/reference/metering.md: the members of `meta`. */
const schema = `
shelves:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text }
books:
  columns:
    id: { type: integer, primary_key: true }
    shelf_id: { type: integer, references: { table: shelves, on_delete: cascade } }
    title: { type: text }
  indexes: [{ columns: [shelf_id] }]
chapters:
  columns:
    id: { type: integer, primary_key: true }
    book_id: { type: integer, references: { table: books, on_delete: cascade } }
marks:
  columns:
    id: { type: integer, primary_key: true }
    book_id: { type: integer, references: { table: books, on_delete: set_null } }
`;
const config = `
[rules.shelves]
read = "row.owner_id = auth.id"
create = "new.owner_id = auth.id"
update = "row.owner_id = auth.id"
`;

const relations = `
[rules.books]
read = "exists(shelves s where s.id = row.shelf_id and s.owner_id = auth.id)"
create = "exists(shelves s where s.id = new.shelf_id and s.owner_id = auth.id)"
update = "exists(shelves s where s.id = row.shelf_id and s.owner_id = auth.id)"
delete = "exists(shelves s where s.id = row.shelf_id and s.owner_id = auth.id)"
[rules.books.columns.id]
write = "public"
`;

async function library(more = "") {
  const server = await serve({ schema, config: more + config });
  await run(server, "INSERT INTO shelves VALUES (1, 'ada'), (2, 'bob'), (3, 'ada')");
  await run(server, "INSERT INTO books VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c')");
  await run(server, "INSERT INTO chapters VALUES (1, 1), (2, 1), (3, 2), (4, 3)");
  await run(server, "INSERT INTO marks VALUES (1, 1), (2, 3)");
  return {
    server,
    key: client(server, await apiKey(server, "project:backend")),
    ada: client(server, (await member(server, "ada")).bearer),
  };
}

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const metering = { version: 1, attempt_id: expect.stringMatching(uuidV7), status: "recorded" };

function usageOf(answer: Answer) {
  expect(answer.status, answer.text).toBeLessThan(300);
  const {
    rows_read,
    rows_written,
    rows_returned,
    metering: given,
  } = (
    answer.body as {
      meta: Record<string, unknown>;
    }
  ).meta;
  expect(given).toEqual(metering);
  return [rows_read, rows_written, rows_returned];
}

describe("the meta of a success", () => {
  it("holds the counts and the attempt, beside the list's own fields", async () => {
    const { server, key } = await library();
    expectAnswer(await key.get("/api/shelves/1"), 200, {
      data: { id: 1, owner_id: "ada" },
      meta: { rows_read: 1, rows_written: 0, rows_returned: 1, metering },
    });
    const listed = await key.get("/api/shelves?limit=1");
    expectAnswer(listed, 200, {
      data: [{ id: 1, owner_id: "ada" }],
      meta: {
        limit: 1,
        offset: 0,
        total: 3,
        next_cursor: expect.any(String),
        rows_read: expect.any(Number),
        rows_written: 0,
        rows_returned: 1,
        metering,
      },
    });
    const { attempt_id } = (listed.body as { meta: { metering: { attempt_id: string } } }).meta.metering;
    const time = Number.parseInt(attempt_id.replace("-", "").slice(0, 12), 16);
    expect(time).toBe(server.clock.now());
  });

  it("has an attempt of its own for every request", async () => {
    const { key } = await library();
    const answers = await Promise.all(Array.from({ length: 20 }, () => key.get("/api/shelves/1")));
    const ids = answers.map(
      ({ body }) => (body as { meta: { metering: { attempt_id: string } } }).meta.metering.attempt_id,
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe("counts", () => {
  it("of single rows", async () => {
    const { key, ada } = await library();
    expect(usageOf(await key.get("/api/books/1"))).toEqual([1, 0, 1]);
    expect(usageOf(await key.get("/api/books/_svc/key?id=1"))).toEqual([1, 0, 1]);
    expect(usageOf(await ada.get("/api/shelves/1"))).toEqual([1, 0, 1]);
    expect(usageOf(await key.post("/api/shelves", {}))).toEqual([0, 1, 1]);
    expect(usageOf(await ada.post("/api/shelves", { owner_id: "ada" }))).toEqual([0, 1, 1]);
    expect(usageOf(await key.patch("/api/shelves/1", { owner_id: "ada" }))).toEqual([1, 1, 1]);
    expect(usageOf(await ada.patch("/api/shelves/1", { owner_id: "ada" }))).toEqual([1, 1, 1]);
    expect(usageOf(await key.delete("/api/chapters/4"))).toEqual([1, 1, 1]);
  });

  it("of a delete include every row that its cascades write", async () => {
    const { server, key } = await library();
    const [, written, returned] = usageOf(await key.delete("/api/shelves/1"));
    // The shelf, two books, three chapters deleted; one mark set to NULL.
    expect([written, returned]).toEqual([7, 1]);
    expect(await countOf(server, "chapters")).toBe(1);
  });

  it("of a write include those of triggers, and what triggers read is unknown", async () => {
    const { server, key } = await library();
    await run(
      server,
      "CREATE TRIGGER shelved AFTER INSERT ON shelves BEGIN INSERT INTO books (shelf_id) SELECT new.id FROM chapters; END",
    );
    await server.database.batch([
      { sql: "INSERT INTO _schema SELECT version + 1, hash, text, applied_at FROM _schema", params: [] },
    ]);
    expect(usageOf(await key.post("/api/shelves", {}))).toEqual([null, 5, 1]);
  });

  it("of a write include the rows that its rules look up, before and after", async () => {
    const { ada, key } = await library(relations);
    // The shelf for the rule of create, and for the one of read.
    expect(usageOf(await ada.post("/api/books", { id: 9, shelf_id: 1 }))).toEqual([2, 1, 1]);
    // The book; its shelf as it is and as it would be; the shelf for the rule of read.
    expect(usageOf(await ada.patch("/api/books/9", { shelf_id: 3 }))).toEqual([4, 1, 1]);
    expect(usageOf(await ada.patch("/api/books/9", { title: "x" }))).toEqual([3, 1, 1]);
    expect(usageOf(await ada.get("/api/books/9"))).toEqual([2, 0, 1]);
    expect(usageOf(await ada.delete("/api/books/9"))).toEqual([2, 1, 1]);
    // Keys bypass rules.
    expect(usageOf(await key.post("/api/books", { shelf_id: 2 }))).toEqual([0, 1, 1]);
  });

  it("of a write with triggers that read nothing are known", async () => {
    const { server, key } = await library();
    await run(
      server,
      "CREATE TRIGGER shelved AFTER INSERT ON shelves BEGIN INSERT INTO chapters (book_id) VALUES (NULL); END",
    );
    await run(server, "INSERT INTO _schema SELECT version + 1, hash, text, applied_at FROM _schema");
    expect(usageOf(await key.post("/api/shelves", {}))).toEqual([0, 2, 1]);
  });

  it.each([
    // A count of all rows, and the page up to and with the row that shows that there is a next one.
    ["", 6, 3],
    ["?limit=1", 5, 1],
    ["?limit=2&offset=1", 6, 2],
    ["?where[id]=2", 2, 1],
    ["?where[id]=99", 0, 0],
    ["?where[owner_id]=ada", 6, 2],
    ["?where[owner_id]=nobody", 6, 0],
    ["?sort=owner_id", 6, 3],
  ])("of a list%s", async (query, read, returned) => {
    const { key } = await library();
    expect(usageOf(await key.get(`/api/shelves${query}`))).toEqual([read, 0, returned]);
  });

  it("stay what they are when statistics would have SQLite prefer another index", async () => {
    if (onSqld) skip("sqld takes no ANALYZE");
    const { server, key } = await library();
    const list = async () => usageOf(await key.get("/api/books?where[shelf_id]=1&filter[id][gt]=0"));
    expect(await list()).toEqual([4, 0, 2]);
    await run(server, "ANALYZE");
    await run(server, "UPDATE sqlite_stat1 SET stat = '1000000 1000000' WHERE tbl = 'books'");
    server.clock.advance(60_000);
    // Only on a file does SQLite read the statistics anew. It then scans the index, and that is seen.
    expect(await list()).toEqual([onFile ? null : 4, 0, 2]);
    expect(server.log.lines).toHaveLength(onFile ? 1 : 0);
  });

  it("of rows that the rules hide are counted all the same", async () => {
    const { ada } = await library();
    const answer = await ada.get("/api/shelves");
    expect((answer.body as { meta: ListMeta }).meta.total).toBe(2);
    expect(usageOf(answer)).toEqual([6, 0, 2]);
  });
});

describe("no meta", () => {
  it("is on an error", async () => {
    const { key } = await library();
    expectRefusal(await key.get("/api/shelves/99"), 404, "not_found");
    expectRefusal(await key.post("/api/shelves", { id: 1 }), 409, "conflict", ["id"]);
    expectRefusal(await key.get("/api/shelves?limit=0"), 400, "bad_request");
  });

  it.each(["usage.enabled = false\n", "usage.row_metering_enabled = false\n"])(
    "is on single rows where %s, and on lists only theirs",
    async (off) => {
      const { key } = await library(off);
      const row = { id: 4, owner_id: null };
      expectAnswer(await key.post("/api/shelves", {}), 201, { data: row });
      expectAnswer(await key.get("/api/shelves/4"), 200, { data: row });
      expectAnswer(await key.patch("/api/shelves/4", { owner_id: null }), 200, { data: row });
      expectAnswer(await key.delete("/api/shelves/4"), 200, { data: { id: 4 } });
      expectAnswer(await key.get("/api/shelves?limit=1&sort=-id"), 200, {
        data: [{ id: 3, owner_id: "ada" }],
        meta: { limit: 1, offset: 0, total: 3, next_cursor: expect.any(String) },
      });
    },
  );
});
