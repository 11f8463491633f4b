import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Database } from "../../src/platform/database.js";
import { managedDefault, versionColumn } from "../../src/project/managed.js";
import {
  type Column,
  type Managed,
  managedKinds,
  type OnDelete,
  type Schema,
  searchTokenizers,
  type Table,
} from "../../src/project/model.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { renameProblems } from "../../src/project/rename-problems.js";
import { declaredIndexes, indexSignature } from "../../src/schema/physical/index-shape.js";
import { loadPhysical } from "../../src/schema/physical/load-physical.js";
import { tableModel } from "../../src/schema/physical/table-model.js";
import { schemaYaml } from "../../src/schema/pull/schema-yaml.js";
import type { ColumnType } from "../../src/sqlite/column-type.js";
import { typeOfDeclaration } from "../../src/sqlite/column-type.js";
import { canonicalFragment } from "../../src/sqlite/fragment.js";
import { columnName, tableName } from "../../src/sqlite/names.js";
import { quoteName } from "../../src/sqlite/sql-tokens.js";
import {
  applied,
  apply,
  databaseWithForeignKeysOn,
  emptyDatabase,
  rows,
  sound,
  soundness,
  value,
} from "../conformance/schema/support.js";
import { schemaOf } from "../unit/rules/fixture.js";

/** A failing case prints its seed and path; SVC_TEST_SEED and SVC_TEST_RUNS replay and prolong it. */
const settings = {
  numRuns: Number(process.env.SVC_TEST_RUNS ?? 30),
  ...(process.env.SVC_TEST_SEED === undefined ? {} : { seed: Number(process.env.SVC_TEST_SEED) }),
};

const tableNames = ["alpha", "beta", "gamma", "delta"];
const columnNames = ["one", "two", "three", "four"];
const types: readonly ColumnType[] = ["integer", "real", "text", "boolean", "json"];
const actions: readonly OnDelete[] = ["no_action", "restrict", "cascade", "set_null"];

const columnShape = fc.record({
  type: fc.constantFrom(...types),
  notNull: fc.boolean(),
  default: fc.constantFrom("none", "literal", "sql"),
  check: fc.boolean(),
  unique: fc.boolean(),
  index: fc.constantFrom("none", "plain", "descending", "partial", "unique partial"),
  managed: fc.constantFrom(null, null, ...managedKinds),
  renamedFrom: fc.option(fc.constantFrom(...columnNames), { freq: 1 }),
});

const tableShape = fc.record({
  key: fc.constantFrom("integer", "text", "composite"),
  columns: fc.dictionary(fc.constantFrom(...columnNames), columnShape, { maxKeys: 4 }),
  parent: fc.option(fc.record({ table: fc.constantFrom(...tableNames), action: fc.constantFrom(...actions) })),
  uniqueTogether: fc.boolean(),
  searched: fc.constantFrom("no", ...searchTokenizers),
  trigger: fc.option(
    fc.record({
      event: fc.constantFrom("insert", "update", "delete"),
      column: fc.constantFrom(...columnNames),
      other: fc.constantFrom(...tableNames),
      name: fc.constantFrom("noted", "said"),
    }),
  ),
  historyDays: fc.constantFrom(null, 30, Number.POSITIVE_INFINITY),
  renamedFrom: fc.option(fc.constantFrom(...tableNames), { freq: 1 }),
});

type TableShape = typeof tableShape extends fc.Arbitrary<infer T> ? T : never;
type ColumnShape = typeof columnShape extends fc.Arbitrary<infer T> ? T : never;

const schemaShape = fc.dictionary(fc.constantFrom(...tableNames), tableShape, { minKeys: 1, maxKeys: 4 });

const literals = { integer: 7n, real: 1.5, text: "it's", boolean: true } as const;
const expressions = {
  integer: "1 + 1",
  real: "0.5",
  text: "upper('a')",
  boolean: "1",
  json: "'{}'",
  blob: "x''",
} as const;

/** What the server sets the column to, as far as its shape allows it. A table has one version at most. */
function managedOf(shape: ColumnShape, isVersion: boolean): Managed | null {
  const { type, notNull, managed } = shape;
  switch (managed) {
    case "created_at":
    case "updated_at":
      return type === "integer" || type === "text" ? managed : null;
    case "created_by":
    case "updated_by":
      return type === "text" && !notNull ? managed : null;
    default:
      return isVersion ? managed : null;
  }
}

function column(name: string, shape: ColumnShape, isVersion: boolean): Column {
  const { type } = shape;
  const managed = managedOf(shape, isVersion);
  const sql = { kind: "sql", sql: expressions[type] } as const;
  const literal = type === "json" || type === "blob" ? sql : ({ kind: "literal", value: literals[type] } as const);
  return {
    name: columnName(name),
    type,
    notNull: shape.notNull,
    default:
      managed !== null
        ? managedDefault(managed, type)
        : shape.default === "none"
          ? null
          : shape.default === "sql"
            ? sql
            : literal,
    check: shape.check ? `${name} is not 'nothing'` : null,
    references: null,
    managed,
    renamedFrom: shape.renamedFrom === name ? null : shape.renamedFrom,
  };
}

function keyType({ key }: TableShape): ColumnType | null {
  return key === "composite" ? null : (key as ColumnType);
}

function table(name: string, shape: TableShape, all: Record<string, TableShape>): Table {
  const plain = {
    notNull: false,
    default: null,
    check: null,
    references: null,
    managed: null,
    renamedFrom: null,
  };
  const key: Column = { ...plain, name: columnName("id"), type: keyType(shape) ?? "integer", notNull: true };
  const version = Object.entries(shape.columns).find(
    ([, { managed, type }]) => managed === "version" && type === "integer",
  );
  const columns = Object.entries(shape.columns).map(([each, of]) => column(each, of, each === version?.[0]));
  const second: Column[] =
    shape.key === "composite" ? [{ ...plain, name: columnName("part"), type: "text", notNull: true }] : [];
  const parent = shape.parent === null ? undefined : all[shape.parent.table];
  const parentType = parent === undefined ? null : keyType(parent);
  const reference: Column[] =
    parentType === null
      ? []
      : [
          {
            ...plain,
            name: columnName("parent_id"),
            type: parentType,
            references: {
              table: tableName(shape.parent!.table),
              column: columnName("id"),
              onDelete: shape.parent!.action,
            },
          },
        ];
  const unique = Object.entries(shape.columns).filter(([, of]) => of.unique);
  const texts = columns.filter(({ type }) => type === "text").map((each) => each.name);
  const searched = shape.searched === "no" ? [] : texts;
  const indexed = Object.entries(shape.columns).filter(([, of]) => of.index !== "none");
  return {
    name: tableName(name),
    columns: new Map([key, ...second, ...columns, ...reference].map((each) => [each.name, each])),
    primaryKey: [key, ...second].map((each) => each.name),
    unique: [
      ...unique.map(([each]) => [columnName(each)]),
      ...(shape.uniqueTogether && columns.length > 1 ? [columns.slice(0, 2).map((each) => each.name)] : []),
    ],
    indexes: indexed.map(([each, of]) => ({
      columns: [{ name: columnName(each), descending: of.index === "descending" }],
      unique: of.index === "unique partial",
      where: of.index.endsWith("partial") ? `${each} is not null` : null,
    })),
    search: searched,
    searchTokenizer: shape.searched === "no" || searched.length === 0 ? "unicode61" : shape.searched,
    triggers: triggersOf(name, shape, all),
    historyDays: shape.historyDays,
    strict: true,
    virtual: false,
    renamedFrom: shape.renamedFrom === name ? null : shape.renamedFrom,
  };
}

/** A trigger that mentions a column and another table, where there are such, and that never has anything to do. */
function triggersOf(name: string, { trigger, columns }: TableShape, all: Record<string, TableShape>) {
  if (trigger === null) return new Map();
  const { event } = trigger;
  const column = `${event === "delete" ? "old" : "new"}.${trigger.column in columns ? trigger.column : "id"}`;
  const other = trigger.other in all ? trigger.other : name;
  const sql = `after ${event} on ${name} when ${column} is 'never' begin update ${other} set id = id where id is ${column}; end`;
  return new Map([[`${trigger.name}_${name}`, sql]]);
}

function text(shape: Record<string, TableShape>): string {
  const schema = schemaOf(Object.entries(shape).map(([name, of]) => table(name, of, shape)));
  const written = schemaYaml(schema);
  const read = parseSchema(written);
  expect(read.problems).toEqual([]);
  expect(read.schema).toEqual(schema);
  return written;
}

/** What the database is, in a form that does not depend on the order in which things came. */
async function structure(database: Database): Promise<unknown> {
  const physical = await loadPhysical(database);
  return [...physical.tables.values()]
    .filter(({ name }) => !name.startsWith("_"))
    .map((source) => {
      const model = tableModel(source, physical, ({ declaredType }) => typeOfDeclaration(declaredType))!;
      return {
        name: source.name,
        strict: source.strict,
        unmodelled: model.unmodelled,
        key: model.table.primaryKey,
        columns: [...model.table.columns.values()]
          .map((each) => ({ ...each, check: each.check === null ? null : canonicalFragment(each.check) }))
          .sort((a, b) => a.name.localeCompare(b.name)),
        indexes: declaredIndexes(model.table).map(indexSignature).sort(),
        indexNames: source.indexes.map(({ name }) => name).sort(),
      };
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The triggers, the server's own too, which keep versions, full-text indexes and the log of changes. */
function triggers(database: Database): Promise<unknown> {
  return rows(database, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name");
}

/** Triggers that would run before the log's, by their tables: SQLite runs the newest first. */
function beforeLog(database: Database): Promise<unknown> {
  return rows(
    database,
    String.raw`SELECT t.name, t.tbl_name FROM sqlite_master t JOIN sqlite_master log USING (tbl_name)
      WHERE t.type = 'trigger' AND log.name LIKE '\_svc\_log\_%' ESCAPE '\'
        AND t.name NOT LIKE '\_svc\_log\_%' ESCAPE '\' AND t.name NOT LIKE '\_svc\_search\_%' ESCAPE '\' AND t.rowid > log.rowid`,
  );
}

/** Rows without a version, of tables that have versions. */
async function unversioned(database: Database, shape: Record<string, TableShape>): Promise<unknown> {
  const found: unknown[] = [];
  for (const each of parseSchema(text(shape)).schema!.tables.values()) {
    const version = versionColumn(each);
    if (version === undefined) continue;
    const sql = `SELECT * FROM ${quoteName(each.name)} WHERE ${quoteName(version.name)} IS NULL`;
    found.push(...(await rows(database, sql)));
  }
  return found;
}

/** Three rows for each table, as far as its constraints take them. */
async function fill(database: Database, shape: Record<string, TableShape>): Promise<void> {
  const { schema } = parseSchema(text(shape));
  const values = {
    integer: "k",
    real: "k + 0.5",
    text: "'t' || k",
    boolean: "k % 2",
    json: "'[' || k || ']'",
    blob: "x''",
  };
  for (let pass = 0; pass < 4; pass++)
    for (const each of schema!.tables.values()) {
      const columns = [...each.columns.values()];
      const names = columns.map(({ name }) => quoteName(name)).join(", ");
      const expressionsOf = columns.map(({ type }) => values[type]).join(", ");
      for (const k of [1, 2, 3])
        await database
          .batch([
            {
              sql: `INSERT OR IGNORE INTO ${quoteName(each.name)} (${names}) SELECT ${expressionsOf} FROM (SELECT ${k} AS k)`,
              params: [],
            },
          ])
          .catch(() => undefined);
    }
}

async function counts(database: Database): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const [name] of await rows(
    database,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'",
  ))
    found.set(String(name), await value(database, `SELECT count(*) FROM ${quoteName(String(name))}`));
  return found;
}

/** Whether two names claim one old name, or change places. */
function isRefused(shape: Record<string, TableShape>): boolean {
  return renameProblems(parseSchema(text(shape)).schema!).length > 0;
}

interface Renamable {
  readonly name: string;
  readonly renamedFrom: string | null;
}

/** What a table or column of the schema in force is called in the proposed one; undefined if it is dropped. */
function successor<T extends Renamable>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>, name: string) {
  const renamed = (old: string): T | undefined =>
    [...after.values()].find((item) => item.renamedFrom === old && isPending(item));
  const isPending = (item: T): boolean =>
    item.renamedFrom !== null &&
    before.has(item.renamedFrom) &&
    (!before.has(item.name) || renamed(item.name) !== undefined);
  return renamed(name) ?? after.get(name);
}

type Side = "before" | "after";

/** The values of columns that stay, under the names that they have then: what foreign key actions must not touch. */
async function rowsThatStay(
  database: Database,
  from: Record<string, TableShape>,
  to: Record<string, TableShape>,
  side: Side,
): Promise<unknown> {
  const found: unknown[] = [];
  const [before, after] = [from, to].map((shape) => parseSchema(text(shape)).schema!.tables) as [
    Schema["tables"],
    Schema["tables"],
  ];
  for (const table of before.values()) {
    const then = successor(before, after, table.name);
    if (then === undefined) continue;
    const same = [...table.columns.values()].flatMap((column) => {
      const next = successor(table.columns, then.columns, column.name);
      // Rows that have NULL get a version.
      const begins = next?.managed === "version" && column.managed !== "version";
      return next?.type === column.type && !begins ? [{ before: column.name, after: next.name }] : [];
    });
    const list = same.map((each) => quoteName(each[side])).join(", ");
    const name = { before: table, after: then }[side].name;
    if (same.length > 0)
      found.push([table.name, await rows(database, `SELECT ${list} FROM ${quoteName(name)} ORDER BY ${list}`)]);
  }
  return found;
}

describe("from any schema to any other", () => {
  it("leads to what a fresh database would be, and keeps every row of every table that stays", async () => {
    await fc.assert(
      fc.asyncProperty(schemaShape, schemaShape, fc.boolean(), fc.boolean(), async (from, to, filled, stayOn) => {
        const database = stayOn ? databaseWithForeignKeysOn() : emptyDatabase();
        const fresh = emptyDatabase();
        try {
          fc.pre(!isRefused(from));
          await applied(database, text(from));
          if (filled) await fill(database, from);
          const before = await structure(database);
          const countsBefore = await counts(database);
          const kept = isRefused(to) ? [] : await rowsThatStay(database, from, to, "before");
          const outcome = await apply(database, text(to), {
            allowDestructive: true,
            foreignKeysStayOn: stayOn,
          });
          const countsAfter = await counts(database);
          expect(await soundness(database)).toEqual(sound);
          if (outcome.outcome === "refused") {
            if (outcome.reason === "constraint") {
              expect(outcome.message).not.toContain("the database refuses");
              expect(await structure(database)).toEqual(before);
              expect(countsAfter).toEqual(countsBefore);
              return;
            }
            expect(isRefused(to)).toBe(true);
            return;
          }
          await applied(fresh, text(to));
          expect(await structure(database)).toEqual(await structure(fresh));
          expect(await triggers(database)).toEqual(await triggers(fresh));
          expect(await beforeLog(database)).toEqual([]);
          expect(await unversioned(database, to)).toEqual([]);
          expect(await rowsThatStay(database, from, to, "after")).toEqual(kept);
          expect((await apply(database, text(to))).outcome).toBe("unchanged");
        } finally {
          await database.close();
          await fresh.close();
        }
      }),
      settings,
    );
  }, 3_000_000);
});
