import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, onD1, serve, skip } from "../../support/server.js";

const project = {
  schema: `
shelves:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true, unique: true, check: "length(name) < 10" }
books:
  columns:
    id: { type: integer, primary_key: true }
    shelf_id: { type: integer, references: { table: shelves } }
    title: { type: text }
`,
  config: "usage.enabled = false",
};

async function library() {
  const server = await serve(project);
  await run(server, "INSERT INTO shelves VALUES (1, 'first'), (2, 'second')");
  await run(server, "INSERT INTO books VALUES (1, 1, 'one')");
  const everything = async () => [
    await rowsOf(server, "SELECT * FROM shelves"),
    await rowsOf(server, "SELECT * FROM books"),
  ];
  return { server, key: client(server, await apiKey(server, "project:backend")), everything };
}

describe("what a body may name", () => {
  it.each([
    ["an unknown column", { name: "x", nope: 1 }],
    ["a column in other case", { Name: "x" }],
    ["the rowid", { rowid: 9, name: "x" }],
    ["_rowid_", { _rowid_: 9, name: "x" }],
    ["SQL", { 'name") VALUES (9); --': 1, name: "x" }],
    ["a name of Object's prototype", JSON.parse('{"name":"x","__proto__":{},"constructor":1}') as object],
  ])("a POST with %s is 400", async (_, body) => {
    const { key, everything } = await library();
    const before = await everything();
    expectRefusal(await key.post("/api/shelves", body), 400, "bad_request");
    expectRefusal(await key.patch("/api/shelves/1", body), 400, "bad_request");
    expect(await everything()).toEqual(before);
  });

  it.each([
    ["empty", {}, []],
    ["of a primary key column", { id: 5 }, ["id"]],
    ["of a primary key column that stays the same", { id: 1 }, ["id"]],
    ["of a primary key column among others", { id: 1, name: "x" }, ["id"]],
  ])("a PATCH that is %s is 400", async (_, body, columns) => {
    const { key, everything } = await library();
    const before = await everything();
    expectRefusal(await key.patch("/api/shelves/1", body), 400, "bad_request", columns);
    expect(await everything()).toEqual(before);
  });
});

describe("constraints", () => {
  it.each([
    ["NOT NULL, with null", "POST", "/api/shelves", { name: null }, 400, "bad_request", ["name"]],
    ["NOT NULL, left out", "POST", "/api/shelves", {}, 400, "bad_request", ["name"]],
    ["NOT NULL", "PATCH", "/api/shelves/1", { name: null }, 400, "bad_request", ["name"]],
    ["CHECK", "POST", "/api/shelves", { name: "far too long" }, 400, "bad_request", ["name"]],
    ["CHECK", "PATCH", "/api/shelves/1", { name: "far too long" }, 400, "bad_request", ["name"]],
    ["UNIQUE", "POST", "/api/shelves", { name: "first" }, 409, "conflict", ["name"]],
    ["UNIQUE", "PATCH", "/api/shelves/2", { name: "first" }, 409, "conflict", ["name"]],
    ["a primary key", "POST", "/api/shelves", { id: 1, name: "third" }, 409, "conflict", ["id"]],
    ["a foreign key", "POST", "/api/books", { shelf_id: 9 }, 409, "conflict", ["shelf_id"]],
    ["a foreign key", "PATCH", "/api/books/1", { shelf_id: 9 }, 409, "conflict", ["shelf_id"]],
    ["a foreign key that others hold", "DELETE", "/api/shelves/1", undefined, 409, "conflict", []],
  ])(
    "%s that fails in a %s %s leaves the tables as they were",
    async (_, method, path, body, status, code, columns) => {
      const { server, key, everything } = await library();
      const before = await everything();
      const init =
        body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      expectRefusal(await key.send(method, path, init), status, code, columns);
      expect(await everything()).toEqual(before);
      expect(server.log.lines).toEqual([]);
      expect((await key.get("/api/shelves")).status).toBe(200);
    },
  );

  it("that name columns are told by those", async () => {
    const { key } = await library();
    const missing = await key.post("/api/shelves", {});
    expect(missing.body).toMatchObject({ error: { message: expect.stringMatching(/: name$/) } });
    const taken = await key.post("/api/shelves", { name: "first" });
    expect(taken.body).toMatchObject({ error: { message: expect.stringMatching(/: name$/) } });
  });

  it.each(["ABORT", "FAIL", "ROLLBACK"])("a trigger's RAISE(%s) is 400 in its own words", async (how) => {
    if (how === "ROLLBACK" && onD1) skip("D1 reports an internal error, which is 503");
    const { server, key, everything } = await library();
    for (const [event, table] of [
      ["INSERT", "books"],
      ["UPDATE", "books"],
      ["DELETE", "books"],
    ])
      await run(
        server,
        `CREATE TRIGGER no_${event} BEFORE ${event} ON ${table} BEGIN SELECT RAISE(${how}, 'the words of the owner'); END`,
      );
    const before = await everything();
    for (const answer of [
      await key.post("/api/books", { title: "two" }),
      await key.patch("/api/books/1", { title: "two" }),
      await key.delete("/api/books/1"),
    ]) {
      expect(expectRefusal(answer, 400, "bad_request")).toBe("the words of the owner");
    }
    expect(await everything()).toEqual(before);
    expectAnswer(await key.post("/api/shelves", { name: "third" }), 201, {
      data: { id: 3, name: "third" },
    });
  });

  it("one of many at once that fails takes no other with it", async () => {
    const { server, key } = await library();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => key.post("/api/shelves", { name: n % 3 === 0 ? "first" : `s${n}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? 409 : 201)),
    );
    const names = (await rowsOf(server, "SELECT name FROM shelves ORDER BY id")).flat();
    expect(new Set(names).size).toBe(22);
  });
});
