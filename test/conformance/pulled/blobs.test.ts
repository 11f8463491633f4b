import { describe, expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { adopted } from "../../support/adopted.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

interface Row {
  readonly id: number;
  readonly v: unknown;
}
const list = async (key: Client, table: string, query = "") => dataOf<Row[]>(await key.get(`/api/${table}?${query}`));
const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64");
const whereIs = (value: string) => `where[v]=${encodeURIComponent(value)}`;

/** Values of every kind among which is a blob, when the schema is pulled. */
const mixed = "(1, 'abc'), (2, 5), (3, x'6869'), (4, x'ff00'), (5, 'aGk='), (6, 2.5), (7, NULL), (8, 9007199254740993)";
const shown = ["abc", "5", "hi", "\xff\x00", "aGk=", "2.5", null, "9007199254740993"];

describe.each(["", "TEXT", "NUMERIC", "BLOB", "DATE"])("a column %s with a blob when it is pulled", (type) => {
  it("shows base64, by which each row is found", async () => {
    const { server, key } = await adopted(
      `CREATE TABLE t (id INTEGER PRIMARY KEY, v ${type})`,
      `INSERT INTO t VALUES ${mixed}`,
      "CREATE INDEX by_v ON t (v)",
    );
    const rows = await list(key, "t");
    expect(rows.map(({ v }) => v)).toEqual(shown.map((text) => text && base64(text)));
    const present = rows.filter(({ v }) => v !== null) as { id: number; v: string }[];
    for (const { id, v } of present) {
      expect(
        (await list(key, "t", whereIs(v))).map((row) => row.id),
        v,
      ).toEqual([id]);
      const others = present.filter((row) => row.id !== id).map((row) => row.id);
      expect((await list(key, "t", `filter[v][ne]=${encodeURIComponent(v)}`)).map((row) => row.id)).toEqual(others);
      const groups = await key.get(`/api/t/_svc/aggregate?count=*&${whereIs(v)}&group=v`);
      expect(dataOf(groups)).toEqual([{ v, count: 1 }]);
      const queried = await key.post("/api/t/_svc/query", { filter: { v: { eq: v } } });
      expect(dataOf<Row[]>(queried).map((row) => row.id)).toEqual([id]);
    }
    // A blob and a text that are shown as the same are both found.
    await run(server, "INSERT INTO t VALUES (9, x'616263')");
    expect((await list(key, "t", whereIs(base64("abc")))).map((row) => row.id)).toEqual([1, 9]);
    const update = (v: string) => ({
      op: "update",
      table: "t",
      key: { id: 1 },
      set: { v: base64("abc") },
      base: { v },
    });
    expectRefusal(await key.post("/api/_svc/batch", { operations: [update(base64("no"))] }), 409, "conflict", ["v"]);
    dataOf(await key.post("/api/_svc/batch", { operations: [update(base64("abc"))] }));
  });

  it("is a key by which each row is found", async () => {
    const { key } = await adopted(
      `CREATE TABLE k (v ${type} PRIMARY KEY, n INTEGER)`,
      "INSERT INTO k VALUES ('abc', 1), (5, 2), (x'6869', 3), (x'ff00', 4), (2.5, 5), ('7b', 6)",
    );
    for (const { v, n } of dataOf<{ v: string; n: number }[]>(await key.get("/api/k"))) {
      expect(dataOf(await key.get(`/api/k/${encodeURIComponent(v)}`)), v).toEqual({ v, n });
      expect(dataOf(await key.patch(`/api/k/${encodeURIComponent(v)}`, { n: n + 10 }))).toEqual({ v, n: n + 10 });
      expect(dataOf(await key.delete(`/api/k/_svc/key?v=${encodeURIComponent(v)}`))).toEqual({ v });
    }
    expect(dataOf(await key.get("/api/k"))).toEqual([]);
  });
});

describe.each([
  ["TEXT", "'abc'"],
  ["", "'abc'"],
  ["DATE", "'2020-01-01'"],
  ["NUMERIC", "1.5"],
  ["INTEGER", "1"],
  ["BOOLEAN", "1"],
  ["REAL", "1.5"],
  ["JSON", "'{}'"],
])("a column %s into which another program writes a blob later", (type, first) => {
  it("shows it as SQL writes it, by which it is found, or the filter is refused", async () => {
    const { server, key } = await adopted(
      `CREATE TABLE t (id INTEGER PRIMARY KEY, v ${type})`,
      `INSERT INTO t VALUES (1, ${first})`,
      "CREATE INDEX by_v ON t (v)",
    );
    await run(server, "INSERT INTO t VALUES (2, x'6869'), (3, x'ff00'), (4, x'')");
    const blobs = ["x'6869'", "x'ff00'", "x''"];
    const [, ...rows] = await list(key, "t");
    expect(rows).toEqual(blobs.map((v, i) => ({ id: 2 + i, v })));
    expect(dataOf(await key.get("/api/t/3"))).toEqual(rows[1]);
    if (type !== "JSON") {
      expect(await list(key, "t", "sort=-v&limit=2")).toEqual([rows[1], rows[0]]);
      const groups = dataOf<Row[]>(await key.get("/api/t/_svc/aggregate?count=*&group=v"));
      expect(groups.slice(1).map(({ v }) => v)).toEqual(["x''", "x'6869'", "x'ff00'"]);
    }
    const isText = ["TEXT", "", "DATE"].includes(type);
    for (const row of rows) {
      const query = whereIs(row.v as string);
      if (isText) expect(await list(key, "t", query)).toEqual([row]);
      else expectRefusal(await key.get(`/api/t?${query}`), 400, "bad_request");
    }
    if (isText) expect(await list(key, "t", `filter[v][in]=x'6869',${first.slice(1, -1)}`)).toHaveLength(2);
    // So is its beginning, where long values are shortened.
    await run(server, `INSERT INTO t VALUES (5, x'${"ff".repeat(500)}')`);
    const root = client(server, (await member(server, "root", "admin")).bearer);
    const long = await root.get("/admin/api/data/t/5", { "Svc-Preview": "100" });
    if (isText || type === "JSON") expect(dataOf(long)).toMatchObject({ v: { $preview: `x'${"ff".repeat(50)}'` } });
    expect(dataOf(await key.delete("/api/t/3"))).toEqual({ id: 3 });
  });
});

it("is found by what is shown in the past and in pulls, too", async () => {
  const server = await serve({ schema: "first: { columns: { id: { type: integer, primary_key: true } } }" });
  await run(server, "CREATE TABLE t (id INTEGER PRIMARY KEY, v, w TEXT)");
  await run(server, "INSERT INTO t VALUES (1, x'6869', 'a')");
  const { text } = await pullSchema(server.database);
  const outcome = await applyChange(server.database, `$history: forever\n${text}`, { allowDestructive: false, now: 1 });
  expect(outcome).toMatchObject({ outcome: "applied" });
  const key = client(server, await apiKey(server, "project:backend"));
  await run(server, "INSERT INTO t VALUES (2, 'abc', 'a'), (3, 5, x'6869')");
  const { seq } = dataOf<{ seq: number }[]>(await key.get("/api/t/_svc/history"))[0]!;
  for (const row of await list(key, "t")) {
    const where = { v: row.v, w: (row as Row & { w: string }).w };
    const query = Object.entries(where).map(([name, value]) => `where[${name}]=${encodeURIComponent(String(value))}`);
    expect(dataOf(await key.get(`/api/t/_svc/state?at=${seq}&${query.join("&")}`))).toEqual([row]);
    const first = await key.post("/api/_svc/pull", { tables: { t: { where } }, checkpoint: null });
    const { changes, checkpoint } = dataOf<{ changes: { row: unknown }[]; checkpoint: string }>(first);
    expect(changes.map((change) => change.row)).toEqual([row]);
    await run(server, "UPDATE t SET id = id + 10 WHERE id = ?", BigInt(row.id));
    const later = dataOf<{ changes: { key: object; row?: unknown }[] }>(
      await key.post("/api/_svc/pull", { tables: { t: { where } }, checkpoint }),
    );
    expect(later.changes.flatMap((change) => change.row ?? [])).toEqual([{ ...row, id: row.id + 10 }]);
  }
});
