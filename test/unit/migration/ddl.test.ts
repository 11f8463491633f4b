import { describe, expect, it } from "vitest";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { emptyPhysical } from "../../../src/schema/physical/physical.js";
import { diff } from "../../../src/schema/plan/diff.js";

/** The SQL of an empty database's first schema. */
function sqlOf(text: string): string[] {
  const { schema, problems } = parseSchema(text);
  expect(problems).toEqual([]);
  return diff(null, schema!, emptyPhysical).steps.flatMap(({ statements }) => statements);
}

describe("CREATE TABLE", () => {
  it("has every type, default, check and reference, quoted", () => {
    expect(
      sqlOf(`
everything:
  columns:
    id: { type: integer, primary_key: true }
    r: { type: real, not_null: true, default: 1.5 }
    t: { type: text, default: "it's \\"so\\"" }
    b: { type: boolean, default: true }
    j: { type: json, default: { sql: "'{}'" } }
    x: { type: blob }
    big: { type: integer, default: -9223372036854775808 }
    owner: { type: text, references: { table: $users, on_delete: set_null } }
    self: { type: integer, check: "self <> id", references: { table: everything, on_delete: restrict } }
`),
    ).toEqual([
      `CREATE TABLE "everything" (
  "id" INTEGER PRIMARY KEY NOT NULL,
  "r" REAL NOT NULL DEFAULT 1.5,
  "t" TEXT DEFAULT 'it''s "so"',
  "b" INTEGER DEFAULT 1,
  "j" TEXT DEFAULT ('{}'),
  "x" BLOB,
  "big" INTEGER DEFAULT -9223372036854775808,
  "owner" TEXT REFERENCES "_users" ("id") ON DELETE SET NULL,
  "self" INTEGER CHECK (self <> id) REFERENCES "everything" ("id") ON DELETE RESTRICT
) STRICT`,
    ]);
  });

  it("has a composite key on the table, and neither key nor STRICT where the file says so", () => {
    expect(
      sqlOf(`
pairs:
  primary_key: [b, a]
  columns: { a: { type: text }, b: { type: integer } }
bare:
  strict: false
  columns: { a: { type: text } }
`),
    ).toEqual([
      'CREATE TABLE "pairs" (\n  "a" TEXT NOT NULL,\n  "b" INTEGER NOT NULL,\n  PRIMARY KEY ("b", "a")\n) STRICT',
      'CREATE TABLE "bare" (\n  "a" TEXT\n)',
    ]);
  });
});

describe("indexes", () => {
  it("are statements of their own, named after what they are, each once", () => {
    const [, ...indexes] = sqlOf(`
m:
  columns:
    id: { type: integer, primary_key: true }
    a: { type: text, unique: true }
    b: { type: text }
  unique: [[a, b], [a]]
  indexes:
    - { columns: [a, -b] }
    - { columns: [b], where: "a  IS NOT NULL" }
    - { columns: [-a], unique: true }
    - { columns: [a], unique: true }
`);
    expect(indexes).toEqual([
      'CREATE UNIQUE INDEX "unique m(a)" ON "m" ("a")',
      'CREATE UNIQUE INDEX "unique m(a,b)" ON "m" ("a", "b")',
      'CREATE INDEX "m(a,-b)" ON "m" ("a", "b" DESC)',
      'CREATE INDEX "m(b) where a is not null" ON "m" ("b") WHERE (a  IS NOT NULL)',
      'CREATE UNIQUE INDEX "unique m(-a)" ON "m" ("a" DESC)',
    ]);
  });
});
