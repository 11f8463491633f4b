import { expect, test, vi } from "vitest";
import { isRefusal } from "../../../src/http/refusal.js";
import { applyChange } from "../../../src/schema/apply.js";
import { loadSchemaInForce, type SchemaInForce } from "../../../src/schema/in-force.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { eraseHistory } from "../../../src/tables/history/erase.js";
import { asOf } from "../../../src/tables/sql/as-of.js";
import { loggedTable } from "../../../src/tables/sql/logged.js";
import { keysAsOf, rowsAsOf } from "../../../src/tables/sql/past.js";
import { bind, commaList, name, param, Slot, sql } from "../../../src/tables/sql-text/fragment.js";
import { Random } from "../../property/support/random.js";
import { client } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

/**
 * Tables of every kind as they were after each of some random changes, beside what was read at that time: by another
 * program, by requests, with foreign key actions, triggers, changed keys and transactions that are rolled back.
 * `SEED=… CHANGES=…` repeats or prolongs a run.
 */
const changes = Number(process.env.CHANGES ?? 60);
vi.setConfig({ testTimeout: 900_000 + 10 * changes * 500 });

const tables = [
  `CREATE TABLE plain (id INTEGER PRIMARY KEY, t TEXT, r REAL, b BLOB, "pk" TEXT, seq INTEGER) STRICT`,
  "CREATE TABLE loose (id TEXT COLLATE NOCASE PRIMARY KEY, a, n NUMERIC, d DATETIME, t TEXT COLLATE NOCASE)",
  "CREATE TABLE pair (g INTEGER, k TEXT, v TEXT, up TEXT GENERATED ALWAYS AS (upper(v)), PRIMARY KEY (g, k)) WITHOUT ROWID",
  "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES plain (id) ON DELETE CASCADE, other INTEGER REFERENCES plain (id) ON DELETE SET NULL, n ANY) STRICT",
  "CREATE TRIGGER counts AFTER INSERT ON child BEGIN UPDATE child SET n = coalesce(n, 0) + 1 WHERE id = new.id; UPDATE plain SET seq = coalesce(seq, 0) + 1 WHERE id = new.parent; END",
];
/** As many columns as one call of a function on D1 cannot take, for the log has all of them in one image. */
const wideTypes = ["text", "real", "blob", "integer"] as const;
const wide = `wide:
  columns:
    id: { type: real, primary_key: true }
${Array.from({ length: 40 }, (_, i) => `    c${i}: { type: ${wideTypes[i % 4]} }`).join("\n")}
`;
const names = ["plain", "loose", "pair", "child", "wide"] as const;

const values = [
  "NULL",
  "0",
  "1",
  "-5",
  "9007199254740993",
  "9223372036854775807",
  "0.1 + 0.2",
  "1.0",
  "-0.0",
  "1.7976931348623157e308",
  "5e-324",
  "9e999",
  "'a'",
  "'A'",
  "'12'",
  "'2009-01-01'",
  "''",
  "'quote '' and \" and \\'",
  "'ünï \u{1f600}'",
  "x''",
  "x'1761'",
  "x'00ff'",
  "'[1]'",
  `'{"$b":"00"}'`,
];
const texts = values.filter((value) => value.startsWith("'") || value === "NULL");
const reals = ["NULL", "0.1 + 0.2", "1.0", "-3.5", "1e300", "2.5e-310", "9e999", "-9e999", "1.0 / 3"];
const blobs = ["NULL", "x''", "x'1761'", "x'00ff'"];

function randomChange(random: Random): string {
  const id = () => random.int(1, 6);
  const any = () => random.pick(values);
  const key = () => random.pick(["'a'", "'A'", "'b'", "'B'", "'c1'", "x'61'"]);
  const real = () => random.pick(["1", "1.5", "0.1 + 0.2", "1e300", "-9e999"]);
  return random.pick([
    () =>
      `INSERT OR IGNORE INTO plain (id, t, r, b, pk) VALUES (${id()}, ${random.pick(texts)}, ${random.pick(reals)}, ${random.pick(blobs)}, 'p')`,
    () => `UPDATE plain SET r = ${random.pick(reals)}, t = ${random.pick(texts)} WHERE id >= ${id()}`,
    () =>
      `UPDATE OR IGNORE plain SET id = id + 3 WHERE id = ${id()} AND NOT EXISTS (SELECT 1 FROM child WHERE plain.id IN (parent, other))`,
    () => `DELETE FROM plain WHERE id = ${id()}`,
    () =>
      `INSERT OR IGNORE INTO child (id, parent, other) VALUES (${id()}, (SELECT id FROM plain ORDER BY id LIMIT 1), (SELECT max(id) FROM plain))`,
    () => `UPDATE child SET n = ${any()} WHERE id = ${id()}`,
    () => `DELETE FROM child WHERE id > ${id()}`,
    () =>
      `INSERT OR IGNORE INTO loose (id, a, n, d, t) VALUES (${key()}, ${random.pick(["1", "-5", any()])}, ${any()}, ${any()}, ${random.pick(["'a'", "'B'", any()])})`,
    () => `UPDATE OR IGNORE loose SET id = ${key()}, a = ${any()} WHERE id = ${key()}`,
    () => "UPDATE loose SET t = CASE t COLLATE BINARY WHEN upper(t) THEN lower(t) ELSE upper(t) END",
    () => "UPDATE loose SET a = a + 0.0 WHERE typeof(a) = 'integer' AND abs(a) < 100",
    () => `UPDATE loose SET t = upper(t), n = ${any()}`,
    () => `DELETE FROM loose WHERE id = ${key()}`,
    () =>
      `INSERT OR IGNORE INTO pair (g, k, v) VALUES (${id()}, ${random.pick(["'x'", "'y'", "''"])}, ${random.pick(texts)})`,
    () => `UPDATE OR IGNORE pair SET g = ${id()} WHERE k = 'x'`,
    () => `DELETE FROM pair WHERE g = ${id()}`,
    () => {
      const at = random.int(0, 9) * 4;
      const four = [
        random.pick(texts),
        random.pick(reals),
        random.pick(blobs),
        random.pick(["7", "NULL", "9007199254740993"]),
      ];
      return random.chance(0.5)
        ? `INSERT OR IGNORE INTO wide (id, c${at}, c${at + 1}, c${at + 2}, c${at + 3}) VALUES (${real()}, ${four.join(", ")})`
        : `UPDATE wide SET ${four.map((value, k) => `c${at + k} = ${value}`).join(", ")} WHERE id >= ${real()}`;
    },
    () => `DELETE FROM wide WHERE id = ${real()}`,
    () => "UPDATE plain SET t = t",
  ])();
}

test("tables of every kind are what they were at every moment", async () => {
  const seed = Random.seedOfRun();
  const random = new Random(seed);
  const server = await serve({ schema: "", config: "usage.enabled = false" });
  for (const each of tables) await run(server, each);
  const { text } = await pullSchema(server.database);
  const applied = await applyChange(server.database, `$history: forever\n${text}\n${wide}`, {
    allowDestructive: false,
    now: 1,
  });
  expect(applied).toMatchObject({ outcome: "applied" });
  const key = client(server, await apiKey(server, "project:backend"));
  const inForce = (await loadSchemaInForce(server.database))!;
  const moments: { seq: number; rows: unknown }[] = [];
  const remember = async () => moments.push({ seq: await newest(server), rows: await all(server, inForce) });
  await remember();
  for (let i = 0; i < changes; i++) {
    if (random.chance(0.2)) {
      const id = random.int(1, 6);
      await key.post("/api/plain", { id, t: "by a request" });
      await key.patch(`/api/plain/${id}`, { r: random.int(0, 9) / 3 });
    } else {
      const statements = random.times(random.int(1, 3), () => ({ sql: randomChange(random), params: [] }));
      // It fails, and the whole batch is rolled back.
      if (random.chance(0.15)) statements.push({ sql: "INSERT INTO plain (id) VALUES ('no number')", params: [] });
      await server.database.batch(statements).catch(() => undefined);
    }
    await remember();
  }
  // Most of the changes do change something.
  expect(moments.at(-1)!.seq).toBeGreaterThan(changes / 2);
  for (const { seq, rows } of moments)
    expect([seed, seq, await allAsOf(server, inForce, seq)]).toEqual([seed, seq, rows]);
  await eraseSome(server, inForce, moments, seed);
  const [[open]] = (await rowsOf(server, "SELECT count(*) AS n FROM _transactions WHERE seq IS NULL")) as [[number]];
  expect(open).toBe(0);
});

/**
 * Erases some rows from the log. At every moment all others have to be as they were; the erased ones, too, or not
 * there at all.
 */
async function eraseSome(
  server: TestServer,
  inForce: SchemaInForce,
  moments: readonly { readonly seq: number; readonly rows: unknown }[],
  seed: number,
): Promise<void> {
  const erased = new Map<string, string>([
    ["plain", "2"],
    ["loose", "b"],
    ["pair", '{"g":1,"k":"x"}'],
    ["child", "3"],
    ["wide", "1.5"],
  ]);
  const written = ["[2]", '["b"]', '[1,"x"]', "[3]", "[1.5]"];
  const isErased = [...erased.keys()]
    .map((table, i) => `tbl = '${table}' AND lower(pk) = '${written[i]}'`)
    .join(" OR ");
  const [[logged]] = (await rowsOf(server, `SELECT count(*) AS n FROM _changes WHERE ${isErased}`)) as [[number]];
  let entries = 0;
  for (const [table, key] of erased) {
    const outcome = await eraseHistory(server.database, inForce, table, key);
    entries += isRefusal(outcome) ? 0 : outcome.entries;
    expect([seed, await eraseHistory(server.database, inForce, table, key)]).toMatchObject([
      seed,
      { code: "not_found" },
    ]);
  }
  // The only entry of a row that exists stays.
  if (logged > erased.size) expect(entries, `SEED=${seed}`).toBeGreaterThan(0);
  const keys = ["2", "'b'", "1 'x'", "3", "1.5"];
  type Rows = readonly (readonly [string, ...string[][]])[];
  const parted = (tables: unknown, isErased: boolean) =>
    (tables as Rows).map(([table, ...rows], i) =>
      rows.filter((row) => {
        const key = table === "pair" ? `${row[0]} ${row[2]}` : row[0]!.toLowerCase();
        return (key === keys[i]) === isErased;
      }),
    );
  // Some of the moments, as each takes long on a server over the network.
  for (const { seq, rows } of moments.filter((_, i) => i % 3 === 0)) {
    const found = await allAsOf(server, inForce, seq);
    expect([seed, seq, parted(found, false)]).toEqual([seed, seq, parted(rows, false)]);
    const was = parted(rows, true);
    parted(found, true).forEach((ofTable, i) => {
      // Nothing is told of it that was not so.
      if (ofTable.length > 0) expect([seed, seq, ofTable]).toEqual([seed, seq, was[i]]);
    });
  }
  expect([seed, await allAsOf(server, inForce, moments.at(-1)!.seq)]).toEqual([seed, moments.at(-1)!.rows]);
}

async function newest(server: TestServer): Promise<number> {
  const [[seq]] = (await rowsOf(server, "SELECT ifnull(max(seq), 0) AS seq FROM _changes")) as [[number]];
  return seq;
}

async function all(server: TestServer, { schema }: SchemaInForce): Promise<unknown> {
  const found: unknown[] = [];
  for (const table of names) {
    // Not the generated ones, of which the schema does not know.
    const columns = [...schema.tables.get(table)!.columns.keys()];
    const list = columns.map((column, i) => `quote("${column}") AS q${i}, typeof("${column}") AS t${i}`).join(", ");
    found.push([table, ...(await rowsOf(server, `SELECT ${list} FROM ${table} ORDER BY 1, 3`))]);
  }
  return found;
}

async function allAsOf(server: TestServer, { schema, catalog }: SchemaInForce, seq: number): Promise<unknown> {
  const found: unknown[] = [];
  for (const table of names) {
    const of = schema.tables.get(table)!;
    const logged = loggedTable(of, catalog.tables.get(of.name)!);
    const at = asOf(param(new Slot("at")), "h", [logged], catalog);
    const list = commaList(
      [...of.columns.keys()].map((column, i) => {
        const ref = name(of.columns.get(column)!.name);
        return { text: `quote(${ref.text}) AS q${i}, typeof(${ref.text}) AS t${i}`, params: [] };
      }),
    );
    const keys = sql`_w AS (${keysAsOf(at, of, logged, null, 1000)})`;
    const statement = sql`WITH ${commaList([...at.ctes, keys])} SELECT ${list} FROM (${rowsAsOf(logged)}) ORDER BY 1, 3`;
    const [result] = await server.database.query([bind(statement, [new Map([["at", BigInt(seq)]])])]);
    found.push([table, ...result!.rows]);
  }
  return found;
}
