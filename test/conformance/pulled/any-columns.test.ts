import { expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const ddl = "CREATE TABLE t (id INTEGER PRIMARY KEY, a ANY, b ANY, c TEXT, d ANY) STRICT";
const fill = "INSERT INTO t VALUES (1, 5, 5, 'x', NULL), (2, 7, '5', 'y', NULL), (3, 9, 2.5, 'z', NULL)";

/** A STRICT table with columns that hold anything, pulled and adopted while the server runs. */
async function pulled() {
  const server = await serve({
    schema: "first: { columns: { id: { type: integer, primary_key: true } } }",
  });
  await run(server, ddl);
  await run(server, fill);
  const { text, notes } = await pullSchema(server.database);
  const apply = (file: string, allowDestructive = false) =>
    applyChange(server.database, file, { allowDestructive, now: 1 });
  expect(await apply(text)).toMatchObject({ outcome: "applied" });
  const key = client(server, await apiKey(server, "project:backend"));
  const stored = () => rowsOf(server, "SELECT id, a, typeof(a) AS ta, b, typeof(b) AS tb FROM t ORDER BY id");
  return { server, text, notes, apply, key, stored };
}

const values = [
  [1, 5, "integer", 5, "integer"],
  [2, 7, "integer", "5", "text"],
  [3, 9, "integer", 2.5, "real"],
];

it("an ANY column of a STRICT table has the type of its values, and is served", async () => {
  const { text, notes, key, stored } = await pulled();
  expect(text).toContain("a:  { type: integer }");
  expect(text).toContain("b:  { type: text }");
  expect(notes.choices).toEqual(["t.b: values of several types (1 integer, 1 real, 1 text), taken as text"]);
  expect(dataOf(await key.get("/api/t?select=a,b"))).toEqual([
    { a: 5, b: 5 },
    { a: 7, b: "5" },
    { a: 9, b: 2.5 },
  ]);
  expect((await key.post("/api/t", { id: 4, a: 1, b: "007", c: "w" })).status).toBe(201);
  expectRefusal(await key.post("/api/t", { a: "1" }), 400, "bad_request", ["a"]);
  expect(dataOf(await key.get("/api/t/4"))).toMatchObject({ a: 1, b: "007" });
  expect((await stored()).slice(0, 3)).toEqual(values);
});

it("a rebuild for another column's sake keeps the column and each of its values", async () => {
  const { server, text, apply, stored } = await pulled();
  const checked = text.replace("c:  { type: text }", `c:  { type: text, check: "length(c) < 9" }`);
  expect(checked).not.toBe(text);
  expect(await apply(checked)).toMatchObject({ outcome: "applied" });
  expect(await stored()).toEqual(values);
  const declared = await rowsOf(server, "SELECT name, type FROM pragma_table_info('t') ORDER BY cid");
  expect(declared).toEqual([
    ["id", "INTEGER"],
    ["a", "ANY"],
    ["b", "ANY"],
    ["c", "TEXT"],
    ["d", "ANY"],
  ]);
  // In a table that is not STRICT, ANY would turn texts into numbers.
  expect(await apply(checked.replace("\nt:\n", "\nt:\n  strict: false\n"))).toMatchObject({
    outcome: "applied",
  });
  expect(await stored()).toEqual(values);
});

it("another type is no safe step where values would be stored otherwise", async () => {
  const { text, apply, stored } = await pulled();
  for (const [from, to] of [
    ["a:  { type: integer }", "a:  { type: text }"],
    ["b:  { type: text }", "b:  { type: blob }"],
  ] as const)
    expect(await apply(text.replace(from, to)), to).toMatchObject({
      outcome: "refused",
      reason: "destructive",
    });
  expect(await stored()).toEqual(values);
  const text2 = text.replace("d:  { type: text }", "d:  { type: blob }");
  expect(text2).not.toBe(text);
  expect(await apply(text2)).toMatchObject({ outcome: "applied" });
  expect(await stored()).toEqual(values);
});

it("is adopted only with a type that its values have", async () => {
  const server = await serve({ schema: "first: { columns: { id: { type: integer, primary_key: true } } }" });
  await run(server, ddl);
  await run(server, fill);
  const { text } = await pullSchema(server.database);
  const wrong = text.replace("b:  { type: text }", "b:  { type: integer }");
  expect(await applyChange(server.database, wrong, { allowDestructive: true, now: 1 })).toMatchObject({
    outcome: "refused",
    message: "t.b holds values that are not integer (2)",
  });
});
