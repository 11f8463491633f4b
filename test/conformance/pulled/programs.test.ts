import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import type { Column, Table } from "../../../src/project/model.js";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { applyChange } from "../../../src/schema/apply.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { client, dataOf } from "../../support/client.js";
import { thaw } from "../../support/frozen.js";
import { rowsOf } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

/** The tables of a known program, with a few rows: pulled from its file, and adopted. */
async function programOf(name: string) {
  const program = readFileSync(`test/data/programs/${name}.sql`, "utf8");
  const file = openLibsql({ path: ":memory:", synchronous: "normal" });
  await thaw(file, program);
  const { text, notes } = await pullSchema(file);
  await file.close();
  expect(notes).toMatchObject({ leftOut: [], limited: [], choices: [] });
  const server = await serve({ schema: "first: { columns: { id: { type: integer, primary_key: true } } }" });
  await thaw(server.database, program);
  const outcome = await applyChange(server.database, text, { allowDestructive: true, now: 1 });
  expect(outcome).toMatchObject({ outcome: "applied" });
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, key, tables: [...parseSchema(text).schema!.tables.values()] };
}

/** A stored value as SQLite itself says it: its type, and a text of it. */
type Stored = readonly [type: string, text: string | null];

const storedAs = (name: string) =>
  `typeof(${name}), CASE typeof(${name}) WHEN 'blob' THEN hex(${name}) WHEN 'real' THEN printf('%!.17g', ${name}) ELSE CAST(${name} AS TEXT) END`;

/** What JSON shows for it. */
function shown([stored, text]: Stored, { type }: Column): unknown {
  if (text === null) return null;
  if (type === "boolean") return text === "1";
  if (stored === "blob") return Buffer.from(text, "hex").toString("base64");
  if (stored === "text") return text;
  return Number.isSafeInteger(Number(text)) || stored === "real" ? Number(text) : text;
}

/** The numbers of the rows that a query of SQLite gives, by the order of the table's key. */
async function placesOf(server: TestServer, table: Table, more: string) {
  const keys = keyOrder(table);
  const numbered = `SELECT row_number() OVER (ORDER BY ${keys}) AS _at, * FROM "${table.name}"`;
  return (await rowsOf(server, `SELECT _at FROM (${numbered}) ${more}`)).map(([at]) => Number(at) - 1);
}

const keyOrder = ({ primaryKey }: Table) =>
  primaryKey.length === 0 ? "rowid" : primaryKey.map((name) => `"${name}"`).join();

const literalOf = ([stored, text]: Stored) =>
  stored === "text" ? `'${text!.replaceAll("'", "''")}'` : stored === "real" ? `(${text})` : text!;

test.each(["django", "trac", "beets"])("the tables of %s are served as SQLite has them", async (name) => {
  const { server, key, tables } = await programOf(name);
  for (const table of tables) {
    const columns = [...table.columns.values()];
    const found = await server.database.query(
      columns.map((column) => ({
        sql: `SELECT ${storedAs(`"${column.name}"`)} FROM "${table.name}" ORDER BY ${keyOrder(table)}`,
        params: [],
      })),
    );
    const stored = found.map(({ rows }) => rows as unknown as readonly Stored[]);
    const rows = stored[0]!.map((_, at) =>
      Object.fromEntries(columns.map((column, i) => [column.name, shown(stored[i]![at]!, column)])),
    );
    const path = `/api/${table.name}`;
    expect(dataOf(await key.get(path)), path).toEqual(rows);
    if (table.primaryKey.length > 0)
      for (const row of rows.slice(0, 4)) {
        const values = table.primaryKey.map((column) => `${column}=${encodeURIComponent(String(row[column]))}`);
        expect(dataOf(await key.get(`${path}/_svc/key?${values.join("&")}`)), values.join()).toEqual(row);
      }
    // Of a wide table some columns, and of each column some questions, so that the test stays quick.
    const some = columns.flatMap((_, i) => (i % Math.ceil(columns.length / 12) === 0 ? [i] : []));
    for (const [turn, i] of some.entries()) {
      const { name, type } = columns[i]!;
      const at = stored[i]!.findIndex(([, text], at) => text !== null && at >= i % 12);
      if (type === "blob" || at < 0) continue;
      const sql = literalOf(stored[i]![at]!);
      const value = encodeURIComponent(String(rows[at]![name]));
      const questions = [
        [`sort=${name}`, `ORDER BY "${name}", _at`],
        [`where[${name}]=${value}&sort=${name}`, `WHERE "${name}" = ${sql} ORDER BY _at`],
        [`sort=-${name}`, `ORDER BY "${name}" DESC, _at`],
        [`filter[${name}][gte]=${value}`, `WHERE "${name}" >= ${sql} ORDER BY _at`],
        [`filter[${name}][is_null]=true`, `WHERE "${name}" IS NULL ORDER BY _at`],
      ] as const;
      for (const [query, more] of [questions[turn % 5]!, questions[(turn + 1) % 5]!]) {
        const expected = (await placesOf(server, table, more)).map((at) => rows[at]);
        expect(dataOf(await key.get(`${path}?${query}`)), `${path}?${query}`).toEqual(expected);
      }
      const groups = await rowsOf(server, `SELECT count(*) FROM "${table.name}" GROUP BY "${name}" ORDER BY "${name}"`);
      const counted = dataOf<{ count: number }[]>(await key.get(`${path}/_svc/aggregate?count=*&group=${name}`));
      const counts = counted.map(({ count }) => [count]);
      expect(counts, `${path} by ${name}`).toEqual(groups);
    }
  }
});
