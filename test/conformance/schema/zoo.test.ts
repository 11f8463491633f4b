import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { beforeEach, describe, expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import type { Database } from "../../../src/platform/database.js";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { introspect } from "../../../src/schema/pull/introspect.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { applied, apply, emptyDatabase, rows, run, sound, soundness, value } from "./support.js";

let database: Database;

beforeEach(() => {
  database = emptyDatabase();
});

/** The pulled file without its comments. */
async function pulled(): Promise<string> {
  const { text } = await pullSchema(database);
  const { schema, problems } = parseSchema(text);
  expect(problems).toEqual([]);
  expect(schema).toEqual((await introspect(database)).schema);
  return text.replace(/^(#.*\n)+\n/, "");
}

async function notes() {
  return (await pullSchema(database)).notes;
}

describe("a column's type comes from its declaration and its values", () => {
  const cases: [declared: string, values: string, type: string, note: string | null][] = [
    ["DATETIME", "'2020-01-01 00:00:00'", "text", null],
    ["DATETIME", "NULL", "text", null],
    ["DATETIME", "1600000000", "integer", null],
    ["NUMERIC(10,2)", "1.5), (2", "real", null],
    ["NUMERIC(10,2)", "1), (2", "real", null],
    ["NUMERIC(10,2)", "1), (9007199254740993", "integer", null],
    ["NUMERIC", "1.5), (9007199254740993", "text", "values of several types (1 integer, 1 real), taken as text"],
    ["INTEGER", "0), (1", "integer", null],
    ["BIGINT", "9223372036854775807", "integer", null],
    ["BOOLEAN", "0), (1), (NULL", "boolean", null],
    ["BOOLEAN", "0), (2", "integer", null],
    ["BOOL", "NULL", "boolean", null],
    ["JSON", "'{}'), ('[1]'), (NULL", "json", null],
    ["JSON", "'{}'), ('{'", "text", null],
    ["VARCHAR(20)", "'a'", "text", null],
    ["INTEGER", "'a'), (1), (2", "text", "values of several types (2 integer, 1 text), taken as text"],
    ["BLOB", "x'00'", "blob", null],
    ["BLOB", "'text'", "text", null],
    ["TEXT", "x'ff'), ('a'", "blob", "values of several types (1 text, 1 blob), taken as blob"],
    ["", "NULL", "text", null],
    ["", "5", "integer", null],
    ["FLOAT", "5", "real", null],
    ["DECIMAL", "NULL", "real", null],
  ];
  it.each(cases)("%s holding (%s) is %s", async (declared, values, type, note) => {
    await run(
      database,
      `CREATE TABLE t (id INTEGER PRIMARY KEY, c ${declared})`,
      `INSERT INTO t (c) VALUES (${values})`,
    );
    const { schema, notes } = await introspect(database);
    expect(schema.tables.get("t")!.columns.get("c")!.type).toBe(type);
    expect(notes.choices).toEqual(note === null ? [] : [`t.c: ${note}`]);
    const before = await rows(database, "SELECT id, quote(c) FROM t");
    await applied(database, await pulled());
    expect(await rows(database, "SELECT id, quote(c) FROM t")).toEqual(before);
  });
});

describe("what the file can say is in it", () => {
  it("keys, defaults, checks, references, indexes", async () => {
    await run(
      database,
      "CREATE TABLE parent (code TEXT PRIMARY KEY, alias VARCHAR(9) UNIQUE, n INT DEFAULT 5 CHECK (n > 0), CHECK (n < 100 AND code <> ''))",
      'CREATE TABLE "null" (a INT, "true" REAL DEFAULT -1.50, c DEFAULT "quo\'ted", d TEXT DEFAULT CURRENT_TIMESTAMP, e BOOLEAN DEFAULT 0, f DEFAULT NULL, ' +
        'p TEXT REFERENCES parent ON DELETE CASCADE, q TEXT REFERENCES parent (alias) ON DELETE SET NULL, self INT REFERENCES "null" (a), PRIMARY KEY (a))',
      "CREATE TABLE pair (a INTEGER, b TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID",
      "CREATE TABLE bare (x)",
      "CREATE INDEX i1 ON parent (n DESC, alias)",
      "CREATE UNIQUE INDEX i2 ON parent (n) WHERE n > 7 /* odd */ AND alias IS NOT NULL",
      "CREATE TABLE strict (id INTEGER PRIMARY KEY, a ANY, b INT) STRICT",
      "CREATE VIRTUAL TABLE notes USING fts5(title, body)",
    );
    expect(await pulled()).toBe(`parent:
  strict: false
  columns:
    code:  { type: text, primary_key: true, check: "n < 100 AND code <> ''" }
    alias: { type: text, unique: true }
    n:     { type: integer, default: 5, check: "n > 0" }
  indexes:
    - { columns: [-n, alias] }
    - { columns: [n], unique: true, where: "n > 7 AND alias IS NOT NULL" }

"null":
  strict: false
  columns:
    a:      { type: integer, primary_key: true }
    "true": { type: real, default: -1.5 }
    c:      { type: text, default: "quo'ted" }
    d:      { type: text, default: { sql: CURRENT_TIMESTAMP } }
    e:      { type: boolean, default: false }
    f:      { type: text }
    p:      { type: text, references: { table: parent, on_delete: cascade } }
    q:      { type: text, references: { table: parent, column: alias, on_delete: set_null } }
    self:   { type: integer, references: { table: "null" } }

pair:
  strict: false
  primary_key: [b, a]
  columns:
    a: { type: integer, not_null: true }
    b: { type: text, not_null: true }

bare:
  strict: false
  columns:
    x: { type: text }

strict:
  columns:
    id: { type: integer, primary_key: true }
    a:  { type: text }
    b:  { type: integer }

notes:
  virtual: true
  strict: false
  columns:
    title: { type: text }
    body:  { type: text }
`);
    expect(await notes()).toEqual({ leftOut: [], kept: [], choices: [], narrowed: [], limited: [] });
    await applied(database, (await pullSchema(database)).text);
    expect(await soundness(database)).toEqual(sound);
  });
});

describe("what the file cannot say is left out or kept, with a note", () => {
  it("views, names, generated columns, composite and odd keys, expressions, collations, clauses, triggers", async () => {
    await run(
      database,
      'CREATE TABLE p (a INT, b INT, c TEXT COLLATE NOCASE, "d e" TEXT, "f g" INT NOT NULL, h INT AS (a + 1), PRIMARY KEY (a, b))',
      "CREATE TABLE q (id INTEGER PRIMARY KEY AUTOINCREMENT, a INT, b INT, c TEXT UNIQUE ON CONFLICT REPLACE, r INT REFERENCES p (a), m INT REFERENCES missing (x), " +
        "s INT NOT NULL REFERENCES q (id) ON DELETE SET NULL, t INT REFERENCES q (id) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED, u INT CHECK (likely(u) IN (1, 2)), w INT CHECK (unicode(w) OR sqlite_version() > 3), FOREIGN KEY (a, b) REFERENCES p (a, b))",
      'CREATE TABLE "odd name" (a)',
      "CREATE TABLE _mine (a)",
      "CREATE VIEW v AS SELECT 1",
      "CREATE INDEX i1 ON p (lower(c))",
      "CREATE INDEX i2 ON p (c COLLATE BINARY)",
      "CREATE INDEX i3 ON p (c)",
      "CREATE TRIGGER g AFTER INSERT ON p BEGIN SELECT 1; END",
    );
    const found = await notes();
    expect(found.leftOut).toEqual([
      "view v",
      "table odd name: not a name that the file can say",
      "table _mine: not a name that the file can say",
    ]);
    expect(found.kept).toEqual([
      'p: column "d e", not a name',
      'p: column "f g", not a name, which new rows need a value for',
      "p: generated column h",
      "p: index i1",
      "p: index i2",
      "q: CHECK (unicode(w) OR sqlite_version() > 3)",
      "q: foreign key (a, b) to p",
      "q: ON UPDATE cascade of t",
      "q: foreign key (s) to q",
      "q: foreign key (m) to missing",
      "q: ON CONFLICT REPLACE",
      "q: DEFERRABLE foreign keys",
      "q: foreign key (r) to p",
      "p: trigger g",
    ]);
    expect((await introspect(database)).schema.tables.get("p")!.indexes).toEqual([
      { columns: [{ name: "c", descending: false }], unique: false, where: null },
    ]);
  });

  it("a table with text that is not UTF-8, and the references to it", async () => {
    await run(
      database,
      "CREATE TABLE bad (id INTEGER PRIMARY KEY, t TEXT)",
      "INSERT INTO bad (t) VALUES (CAST(x'ff61' AS TEXT)), ('good'), ('güt'), (CAST(x'61c3' AS TEXT))",
      "CREATE TABLE good (id INTEGER PRIMARY KEY, bad_id INT REFERENCES bad)",
    );
    const { text, notes: found } = await pullSchema(database);
    expect(found.leftOut).toEqual(["table bad: 2 texts of column t are not UTF-8"]);
    expect(found.kept).toEqual(["good: foreign key (bad_id) to bad"]);
    expect(text).toContain("#   table bad: 2 texts of column t are not UTF-8\n");
    const byHand =
      "bad:\n  strict: false\n  columns:\n    id: { type: integer, primary_key: true }\n    t: { type: text }\n";
    expect(await apply(database, byHand)).toEqual({
      outcome: "refused",
      reason: "invalid",
      problems: [{ file: "svc.schema.yaml", path: "bad.columns.t", message: "2 texts that are there are not UTF-8" }],
    });
  });
});

describe("a table that is there already", () => {
  it("is adopted only as it is", async () => {
    await run(
      database,
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'x', b INT CHECK (b > 0), c REAL)",
      "CREATE INDEX i ON t (a)",
      "INSERT INTO t (b, c) VALUES (1, 'many')",
    );
    const text = (columns: string, rest = "  indexes: [{ columns: [a] }]\n", strict = "  strict: false\n") =>
      `t:\n${strict}  columns:\n    id: { type: integer, primary_key: true }\n${columns}${rest}`;
    const a = "    a: { type: text, not_null: true, default: x }\n";
    const b = '    b: { type: integer, check: "b > 0" }\n';
    const c = "    c: { type: text }\n";
    const message = async (proposal: string) => {
      const outcome = await apply(database, proposal, { allowDestructive: true });
      return outcome.outcome === "refused" && outcome.reason === "constraint" ? outcome.message : outcome;
    };
    const differs = "t is there and differs from the file: ";
    expect(await message(text(a + b))).toBe(`${differs}the file has no column c`);
    expect(await message(text(`${a + b + c}    d: { type: text }\n`))).toBe(`${differs}there is no column d`);
    expect(await message(text(a + b + c, ""))).toBe(`${differs}the file has no index t(a)`);
    expect(await message(text(a + b + c, "  unique: [[a]]\n"))).toBe(
      `${differs}there is no index unique t(a); the file has no index t(a)`,
    );
    expect(await message(text(a + b + c, "  indexes: [{ columns: [a] }]\n", ""))).toBe(
      `${differs}strict is false there and true in the file`,
    );
    expect(await message(text(a.replace("default: x", "default: y") + b.replace("> 0", "> 1") + c))).toBe(
      `${differs}default of a is 'x' there and 'y' in the file; check of b is b > 0 there and b > 1 in the file`,
    );
    expect(await message(text(a + b + c.replace("text", "real")))).toBe("t.c holds values that are not real (1)");
    expect(await value(database, "SELECT count(*) FROM sqlite_master WHERE name = '_schema'")).toBe(0);
    const adopted = await applied(database, text(a + b + c));
    expect(adopted.steps).toEqual([
      {
        kind: "adopt_table",
        description: "adopt table t, which is there as the file declares it",
        statements: [],
        safe: true,
        hazards: [],
        rows: 0,
        writes_wait_ms: 0,
      },
    ]);
  });

  it("is adopted with references that lead nowhere, and a change may leave as many of them", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "svc-")), "data.db");
    const legacy = new Libsql(path);
    legacy.exec("PRAGMA foreign_keys = OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t (id))");
    legacy.exec("INSERT INTO t (up) VALUES (9)");
    legacy.close();
    const opened = openLibsql({ path, synchronous: "normal" });
    const { text } = await pullSchema(opened);
    await applied(opened, text);
    const changed = text.replace("    up: ", "    more: { type: text }\n    up: ");
    expect(await apply(opened, changed)).toMatchObject({ outcome: "applied" });
    expect(await value(opened, "SELECT count(*) FROM t")).toBe(1);
  });

  it("keeps what only the database knows through a change, or asks before it is lost", async () => {
    await run(
      database,
      'CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a VARCHAR(9) COLLATE NOCASE, b INT, c INT, "no name" TEXT, h INT AS (b + 1))',
      "CREATE INDEX i ON t (lower(a))",
      "INSERT INTO t (a, b, c, \"no name\") VALUES ('A', 1, 1, 'kept'), ('b', 2, 2, NULL), ('c', 3, 3, NULL)",
      "DELETE FROM t WHERE id = 3",
    );
    const text = await pulled();
    await applied(database, text);
    // ALTER TABLE takes a column away without touching the rest, a rebuild does not.
    await applied(
      database,
      text.replace("    b:  { type: integer }\n", "    b:  { type: integer }\n    d:  { type: text }\n"),
    );
    const stricter = text.replace("    c:  { type: integer }\n", '    c:  { type: integer, check: "c > 0" }\n');
    const refused = await apply(database, stricter);
    expect(refused).toMatchObject({ outcome: "refused", reason: "destructive" });
    expect(refused.outcome === "refused" && refused.reason === "destructive" && refused.steps[0]!.hazards).toEqual([
      { effect: "destructive", reason: "t.d is dropped with its values", count: 0 },
      {
        effect: "destructive",
        reason: 'rebuilding t loses what the file does not say: column "no name", not a name',
        count: 1,
      },
      {
        effect: "destructive",
        reason: "rebuilding t loses what the file does not say: generated column h",
        count: null,
      },
    ]);
    await applied(database, stricter, { allowDestructive: true });
    expect(await rows(database, "SELECT id, a, b, c FROM t WHERE a IN ('a', 'B') ORDER BY id")).toEqual([
      [1, "A", 1, 1],
      [2, "b", 2, 2],
    ]);
    expect(await value(database, "SELECT type FROM pragma_table_info('t') WHERE name = 'a'")).toBe("VARCHAR(9)");
    expect(await value(database, "SELECT tbl_name FROM sqlite_master WHERE name = 'i'")).toBe("t");
    await run(database, "INSERT INTO t (a) VALUES ('d')");
    expect(await value(database, "SELECT max(id) FROM t")).toBe(4);
  });
});
