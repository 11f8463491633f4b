import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { loadCatalog } from "../../../src/schema/catalog.js";
import { noTriggers } from "../../../src/schema/physical/triggers-reached.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { tableName } from "../../../src/sqlite/names.js";
import { applied, chinook, emptyDatabase, run } from "./support.js";

it("has the indexes that a scan can use, the rowid and its alias", async () => {
  const database = emptyDatabase();
  await run(
    database,
    "CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT UNIQUE, c INT, d TEXT COLLATE NOCASE, UNIQUE (c, b))",
    "CREATE INDEX plain ON a (c DESC, b)",
    "CREATE INDEX partial ON a (c) WHERE c > 1",
    "CREATE INDEX expression ON a (c + 1)",
    "CREATE INDEX collated ON a (d)",
    "CREATE INDEX other ON a (d COLLATE BINARY)",
    "CREATE INDEX compared ON a (b COLLATE NOCASE)",
    'CREATE INDEX "any ""name" ON a (b)',
    "CREATE TABLE w (x TEXT, y INT, PRIMARY KEY (y, x)) WITHOUT ROWID",
    "CREATE TABLE i (id INT PRIMARY KEY)",
    "CREATE TABLE d (id INTEGER PRIMARY KEY DESC)",
    'CREATE TABLE "odd name" (a)',
    "CREATE TABLE _cf_KV (a)",
  );
  const { tables } = await loadCatalog(database);
  const none = { insert: noTriggers, update: noTriggers, delete: noTriggers };
  const up = (...names: string[]) => names.map((name) => ({ name, descending: false }));
  expect(Object.fromEntries(tables)).toEqual({
    a: {
      rowid: "id",
      affinities: new Map([
        ["id", "integer"],
        ["b", "text"],
        ["c", "integer"],
        ["d", "text"],
      ]),
      functionArgumentsMax: database.functionArgumentsMax ?? 32,
      mixedTexts: new Map(),
      searchedBy: null,
      exactColumns: new Set(),
      collations: new Map([["d", "NOCASE"]]),
      triggers: none,
      // The partial index, and the one over an expression.
      hasOwnersSql: true,
      checks: [],
      foreignKeys: [],
      indexes: [
        { name: 'any "name', columns: up("b"), unique: false, isTable: false },
        { name: "collated", columns: up("d"), unique: false, isTable: false },
        {
          name: "plain",
          columns: [{ name: "c", descending: true }, ...up("b")],
          unique: false,
          isTable: false,
        },
        { name: "sqlite_autoindex_a_1", columns: up("b"), unique: true, isTable: false },
        { name: "sqlite_autoindex_a_2", columns: up("c", "b"), unique: true, isTable: false },
      ],
    },
    w: {
      rowid: null,
      affinities: new Map([
        ["x", "text"],
        ["y", "integer"],
      ]),
      functionArgumentsMax: database.functionArgumentsMax ?? 32,
      mixedTexts: new Map(),
      searchedBy: null,
      exactColumns: new Set(),
      collations: new Map(),
      triggers: none,
      hasOwnersSql: false,
      checks: [],
      foreignKeys: [],
      indexes: [{ name: "sqlite_autoindex_w_1", columns: up("y", "x"), unique: true, isTable: true }],
    },
    i: {
      rowid: "_rowid_",
      affinities: new Map([["id", "integer"]]),
      functionArgumentsMax: database.functionArgumentsMax ?? 32,
      mixedTexts: new Map(),
      searchedBy: null,
      exactColumns: new Set(),
      collations: new Map(),
      triggers: none,
      hasOwnersSql: false,
      checks: [],
      foreignKeys: [],
      indexes: [{ name: "sqlite_autoindex_i_1", columns: up("id"), unique: true, isTable: false }],
    },
    d: {
      rowid: "_rowid_",
      affinities: new Map([["id", "integer"]]),
      functionArgumentsMax: database.functionArgumentsMax ?? 32,
      mixedTexts: new Map(),
      searchedBy: null,
      exactColumns: new Set(),
      collations: new Map(),
      triggers: none,
      hasOwnersSql: false,
      checks: [],
      foreignKeys: [],
      indexes: [
        {
          name: "sqlite_autoindex_d_1",
          columns: [{ name: "id", descending: true }],
          unique: true,
          isTable: false,
        },
      ],
    },
  });
});

it("knows which writes a trigger may hear of, through foreign key actions too", async () => {
  const database = emptyDatabase();
  await run(
    database,
    "CREATE TABLE top (id INTEGER PRIMARY KEY)",
    "CREATE TABLE mid (id INTEGER PRIMARY KEY, top_id INT REFERENCES top ON DELETE CASCADE)",
    "CREATE TABLE low (id INTEGER PRIMARY KEY, mid_id INT REFERENCES mid ON DELETE SET NULL ON UPDATE CASCADE)",
    "CREATE TABLE apart (id INTEGER PRIMARY KEY, top_id INT REFERENCES top)",
    "CREATE TABLE ring (id INTEGER PRIMARY KEY, ring_id INT REFERENCES ring ON DELETE CASCADE)",
    'CREATE TRIGGER "insert" AFTER UPDATE OF mid_id ON low BEGIN SELECT 1; END',
    "CREATE TRIGGER t2 BEFORE DELETE ON apart BEGIN INSERT INTO ring VALUES (1, 1); END",
    "CREATE TRIGGER /* delete */ t3 AFTER INSERT ON ring BEGIN SELECT 1; END",
  );
  const { tables } = await loadCatalog(database);
  const triggers = Object.fromEntries(
    [...tables].map(
      ([
        name,
        {
          triggers: { insert, update, delete: removal },
        },
      ]) => [name, { insert: insert.run, update: update.run, delete: removal.run }],
    ),
  );
  expect(triggers).toEqual({
    top: { insert: false, update: false, delete: true },
    mid: { insert: false, update: true, delete: true },
    low: { insert: false, update: true, delete: false },
    apart: { insert: false, update: false, delete: true },
    ring: { insert: true, update: false, delete: false },
  });
});

it.each([
  ["INSERT INTO log VALUES (new.id)", false, 1],
  ["INSERT INTO log VALUES (new.id); INSERT INTO log (id) VALUES (abs(new.id))", false, 2],
  ["INSERT INTO log VALUES (new.id), (2)", false, null],
  ["INSERT INTO noted VALUES (new.id)", false, 2],
  ["INSERT INTO counted VALUES (new.id)", true, null],
  ["INSERT INTO log SELECT 1", true, null],
  ["INSERT INTO log VALUES ((SELECT 1))", true, 1],
  ["INSERT INTO log VALUES (1) ON CONFLICT DO NOTHING", true, null],
  ["INSERT OR REPLACE INTO log VALUES (1)", true, null],
  ["INSERT INTO log VALUES (new.id IN noted)", true, 1],
  ["INSERT INTO log VALUES (new.id IN (1, 2))", false, 1],
  ["UPDATE log SET id = 1", true, null],
  ["DELETE FROM log", true, null],
  ["SELECT 1", true, 0],
  ["SELECT RAISE(IGNORE); INSERT INTO log VALUES (1)", true, null],
  ["INSERT INTO found VALUES (new.id)", false, 1, "counted"],
  ["INSERT INTO found VALUES (new.id); INSERT INTO log VALUES (1)", false, 2, "counted"],
  ["DELETE FROM found WHERE rowid = new.id", true, 0, "one_more"],
  ["UPDATE found SET a = 1 WHERE rowid = new.id; INSERT INTO log VALUES (1)", true, 1, "one_more"],
  ["DELETE FROM found WHERE a = new.id", true, null, "counted"],
  ["DELETE FROM found WHERE rowid = new.id; INSERT INTO found VALUES (1)", true, null, "counted"],
  ["INSERT INTO fed VALUES (1)", false, null, "counted"],
] as [string, boolean, number | null, string?][])(
  "knows whether %s examines rows, and how many it writes",
  async (body, read, rowsWritten, virtualRows = "none") => {
    const database = emptyDatabase();
    await run(
      database,
      "CREATE TABLE t (id INTEGER PRIMARY KEY)",
      "CREATE TABLE log (id)",
      "CREATE TABLE noted (id)",
      "CREATE TABLE counted (id)",
      "CREATE TRIGGER n AFTER INSERT ON noted BEGIN INSERT INTO log VALUES (1); END",
      "CREATE TRIGGER c AFTER INSERT ON counted BEGIN UPDATE log SET id = 1; END",
      "CREATE VIRTUAL TABLE found USING fts5(a)",
      "CREATE TABLE fed (id)",
      "CREATE TRIGGER f AFTER INSERT ON fed BEGIN INSERT INTO found VALUES (1), (2); END",
      `CREATE TRIGGER t1 AFTER INSERT ON t BEGIN ${body}; END`,
    );
    const { tables } = await loadCatalog(database);
    expect(tables.get(tableName("t"))!.triggers.insert).toEqual({
      run: true,
      ignore: body.includes("IGNORE"),
      read,
      rowsWritten,
      virtualRows,
      own: false,
      logged: false,
      isLong: expect.any(Boolean),
    });
  },
);

it.each([
  ["INSERT INTO log VALUES (new.id)", false],
  ["INSERT INTO log VALUES (new.id); UPDATE log SET at = 1 WHERE id = new.id", false],
  ["UPDATE log SET at = 1 WHERE rowid = new.id", false],
  ["UPDATE log SET at = 1 WHERE at = new.id", true],
  ["UPDATE log SET at = 1", true],
  ["UPDATE pairs SET c = 1 WHERE a = new.id", true],
  ["DELETE FROM log", true],
  ["DELETE FROM parents WHERE id = new.id", true],
  ["INSERT INTO log SELECT id, at FROM log", true],
  ["INSERT INTO log VALUES ((SELECT max(id) FROM log), 1)", true],
  ["SELECT RAISE(ABORT, 'no') WHERE new.id < 0", false],
  ["SELECT RAISE(ABORT, 'no') FROM log", true],
  ["INSERT INTO log VALUES (new.id IN pairs, 1)", true],
  ["INSERT INTO log VALUES (new.id, replace(new.id, '1', '2'))", true],
  ["INSERT INTO log VALUES (new.id, new.id LIKE '1%')", true],
  ["INSERT INTO log VALUES (new.id, hex(new.id))", false],
])("knows whether %s may take long", async (body, isLong) => {
  const database = emptyDatabase();
  await run(
    database,
    "CREATE TABLE t (id INTEGER PRIMARY KEY)",
    "CREATE TABLE log (id INTEGER PRIMARY KEY, at)",
    "CREATE TABLE pairs (a, b, c, PRIMARY KEY (a, b))",
    "CREATE TABLE parents (id INTEGER PRIMARY KEY)",
    "CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents)",
    `CREATE TRIGGER t1 AFTER INSERT ON t BEGIN ${body}; END`,
  );
  const { tables } = await loadCatalog(database);
  expect(tables.get(tableName("t"))!.triggers.insert.isLong).toBe(isLong);
});

it("knows which writes make SQLite look for rows that refer to the written one", async () => {
  const database = emptyDatabase();
  await run(
    database,
    "CREATE TABLE parents (id INTEGER PRIMARY KEY, name UNIQUE)",
    "CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents)",
    "CREATE TABLE named (id INTEGER PRIMARY KEY, name UNIQUE)",
    "CREATE TABLE aliases (id INTEGER PRIMARY KEY, name REFERENCES named (name))",
  );
  const { tables } = await loadCatalog(database);
  const looking = (table: string) => {
    const { insert, update, delete: removal } = tables.get(tableName(table))!.triggers;
    return [insert.isLong, update.isLong, removal.isLong];
  };
  expect(looking("parents")).toEqual([false, false, true]);
  expect(looking("children")).toEqual([false, false, false]);
  expect(looking("named")).toEqual([false, true, true]);
});

it("of chinook has its keys and indexes", async () => {
  const database = chinook();
  const { tables } = await loadCatalog(database);
  expect(tables.size).toBe(11);
  expect(tables.get(tableName("Track"))).toMatchObject({ rowid: "TrackId" });
  expect(tables.get(tableName("PlaylistTrack"))!.indexes.map(({ name }) => name)).toEqual([
    "IFK_PlaylistTrackPlaylistId",
    "IFK_PlaylistTrackTrackId",
    "sqlite_autoindex_PlaylistTrack_1",
  ]);
});

it("does without the columns of a virtual table whose module is not there", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "svc-")), "data.db");
  const legacy = new Libsql(path);
  legacy.exec("CREATE TABLE t (id INTEGER PRIMARY KEY); PRAGMA writable_schema = 1");
  legacy.exec("INSERT INTO sqlite_master VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING missing (a)')");
  legacy.close();
  const database = openLibsql({ path, synchronous: "normal" });
  const { text, notes } = await pullSchema(database);
  expect(notes.leftOut).toEqual(["table v: no column that the file can say"]);
  await applied(database, text);
});
