import type { Column, Reference, Table } from "../../project/model.js";
import { canonicalFragment, namesIn, sameFragment } from "../../sqlite/fragment.js";
import { isSymbol, mentions, tokenize } from "../../sqlite/sql-tokens.js";
import { noDdl, parseTableDdl } from "../../sqlite/table-ddl.js";
import { type PhysicalIndex, type PhysicalTable, sameName } from "../physical.js";
import { indexShape } from "../table-model.js";
import { defaultSql, type IndexShape, indexName, indexSignature } from "./ddl.js";

/** What becomes of one table that is in force and stays, in the names that are in force. */
export interface TableChange {
  readonly current: Table;
  readonly target: Table;
  readonly physical: PhysicalTable;
  readonly added: readonly Column[];
  readonly dropped: readonly Column[];
  readonly altered: readonly { readonly before: Column; readonly after: Column }[];
  readonly keyChanged: boolean;
  readonly strictChanged: boolean;
  /** Whether SQLite's ALTER TABLE cannot do it. */
  readonly rebuild: boolean;
  readonly indexes: IndexChange;
}

export interface IndexChange {
  /** Created ones that the file has no longer. */
  readonly dropped: readonly PhysicalIndex[];
  /** Over a column that is dropped, and never in the file. */
  readonly lost: readonly PhysicalIndex[];
  /** Created ones that stay as they are, under the name that they have. */
  readonly kept: readonly PhysicalIndex[];
  /** To be made again under another name, since they are named after what is renamed. */
  readonly stale: readonly PhysicalIndex[];
  readonly created: readonly CreatedIndex[];
}

export interface CreatedIndex {
  /** After the names that the table and its columns will have. */
  readonly name: string;
  readonly shape: IndexShape;
  /** False for one that is only made again. */
  readonly isNew: boolean;
}

/**
 * @param named the target under the names that it will have
 * @param forced whether the table is rebuilt even where ALTER TABLE could do it
 */
export function tableChange(
  current: Table,
  target: Table,
  named: Table,
  physical: PhysicalTable,
  forced = false,
): TableChange {
  const added = [...target.columns.values()].filter(({ name }) => !current.columns.has(name));
  const dropped = [...current.columns.values()].filter(({ name }) => !target.columns.has(name));
  const altered = [...current.columns.values()].flatMap((before) => {
    const after = target.columns.get(before.name);
    return after === undefined || sameColumn(before, after) ? [] : [{ before, after }];
  });
  const keyChanged = current.primaryKey.join() !== target.primaryKey.join();
  const strictChanged = current.strict !== target.strict;
  const unwanted = unwantedIndexes(current, target, physical);
  const rebuild =
    forced ||
    keyChanged ||
    strictChanged ||
    altered.length > 0 ||
    unwanted.some(({ origin }) => origin === "unique") ||
    !added.every((column) => isAddable(column, target.strict)) ||
    !dropped.every(({ name }) => isDroppable(name, physical));
  const indexes = indexChange(target, named, physical, unwanted, dropped, rebuild);
  return { current, target, physical, added, dropped, altered, keyChanged, strictChanged, rebuild, indexes };
}

export function sameColumn(a: Column, b: Column): boolean {
  return (
    a.type === b.type &&
    a.notNull === b.notNull &&
    sameDefault(a, b) &&
    sameFragment(a.check, b.check) &&
    sameReference(a.references, b.references)
  );
}

export function sameDefault(a: Column, b: Column): boolean {
  return canonicalDefault(a) === canonicalDefault(b);
}

/** DEFAULT NULL is none. */
function canonicalDefault({ default: value }: Column): string | null {
  const text = value === null ? "null" : canonicalFragment(defaultSql(value));
  return text === "null" ? null : text;
}

export function sameReference(a: Reference | null, b: Reference | null): boolean {
  if (a === null || b === null) return a === b;
  return a.table === b.table && a.column === b.column && a.onDelete === b.onDelete;
}

/** Every index that a table declares, `unique` included, in the file's order. */
export function declaredIndexes(table: Table): IndexShape[] {
  const unique = table.unique.map((columns) => ({
    columns: columns.map((name) => ({ name, descending: false })),
    unique: true,
    where: null,
  }));
  return [...unique, ...table.indexes];
}

/** SQLite, "ALTER TABLE ADD COLUMN": a constant default, and none for a foreign key. */
function isAddable(column: Column, strict: boolean): boolean {
  // SQLite 3.45 takes a fraction that is the default of such a column for NULL where there are rows.
  if (strict && column.type === "real" && column.notNull) return false;
  if (column.references !== null && column.default !== null) return false;
  return column.default === null || column.default.kind === "literal" || isConstant(column.default.sql);
}

function isConstant(sql: string): boolean {
  const tokens = tokenize(sql).filter((token) => !isSymbol(token, "(") && !isSymbol(token, ")"));
  const [token, ...more] = isSymbol(tokens[0], "-") ? tokens.slice(1) : tokens;
  if (token === undefined || more.length > 0) return false;
  if (token.kind === "word") return ["null", "true", "false"].includes(token.text.toLowerCase());
  return token.kind === "string" || token.kind === "number" || token.kind === "blob";
}

/** SQLite, "ALTER TABLE DROP COLUMN": nothing else of the table may speak of the column. Indexes are dropped before. */
function isDroppable(name: string, physical: PhysicalTable): boolean {
  const ddl = parseTableDdl(physical.sql);
  const column = physical.columns.find((candidate) => sameName(candidate.name, name));
  if (ddl === null || column === undefined) return false;
  const checks = [...ddl.checks, ...[...ddl.columns.values()].flatMap((each) => each.checks)];
  return (
    column.keyPosition === 0 &&
    !physical.foreignKeys.some(({ columns }) => columns.some(({ from }) => sameName(from, name))) &&
    !physical.indexes.some((index) => index.origin === "unique" && covers(index, name)) &&
    !physical.columns.some(({ kind }) => kind === "generated") &&
    !checks.some((check) => namesIn(check).has(name.toLowerCase()))
  );
}

function covers(index: PhysicalIndex, name: string): boolean {
  return index.columns.some((column) => column.name !== null && sameName(column.name, name));
}

function unwantedIndexes(current: Table, target: Table, physical: PhysicalTable): PhysicalIndex[] {
  const wanted = new Set(declaredIndexes(target).map(indexSignature));
  const unwanted = new Set(
    declaredIndexes(current)
      .map(indexSignature)
      .filter((signature) => !wanted.has(signature)),
  );
  const signatures = signaturesOf(physical);
  return physical.indexes.filter((index) => {
    const signature = signatures.get(index);
    return index.origin !== "primary_key" && signature !== undefined && unwanted.has(signature);
  });
}

function signaturesOf(physical: PhysicalTable): ReadonlyMap<PhysicalIndex, string> {
  const ddl = parseTableDdl(physical.sql) ?? noDdl;
  const names = physical.columns.map(({ name }) => name);
  return new Map(
    physical.indexes.flatMap((index) => {
      const shape = indexShape(index, names, ddl);
      return shape === null ? [] : [[index, indexSignature(shape)] as const];
    }),
  );
}

function indexChange(
  target: Table,
  named: Table,
  physical: PhysicalTable,
  unwanted: readonly PhysicalIndex[],
  droppedColumns: readonly Column[],
  rebuild: boolean,
): IndexChange {
  const signatures = signaturesOf(physical);
  const oldShapes = declaredIndexes(target);
  const shapes = declaredIndexes(named);
  const created: CreatedIndex[] = [];
  const stale: PhysicalIndex[] = [];
  const seen = new Set<string>();
  for (const [at, oldShape] of oldShapes.entries()) {
    const signature = indexSignature(oldShape);
    if (seen.has(signature)) continue;
    seen.add(signature);
    const present = physical.indexes.filter(
      (index) => signatures.get(index) === signature && index.origin !== "primary_key",
    );
    const name = indexName(named.name, shapes[at]!);
    stale.push(
      ...present.filter((index) => index.name === indexName(target.name, oldShape) && index.name !== name),
    );
    const staying = present.filter(
      (index) => !stale.includes(index) && !(rebuild && index.origin === "unique"),
    );
    if (staying.length === 0) created.push({ name, shape: oldShape, isNew: present.length === 0 });
  }
  const dropped = unwanted.filter(({ origin }) => origin === "created");
  const others = physical.indexes.filter(
    (index) => index.origin === "created" && !dropped.includes(index) && !stale.includes(index),
  );
  const lost = others.filter(
    (index) =>
      !seen.has(signatures.get(index) ?? "") &&
      droppedColumns.some(({ name }) => mentions(index.sql ?? "", name)),
  );
  return { dropped, lost, kept: others.filter((index) => !lost.includes(index)), stale, created };
}
