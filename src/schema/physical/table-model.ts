import type { Column, Index, Reference, Table } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { fragmentProblem, namesIn } from "../../sqlite/fragment.js";
import { type ColumnName, columnName, isName, type TableName, tableName, usersTable } from "../../sqlite/names.js";
import { noDdl, type TableDdl } from "../../sqlite/table-ddl.js";
import { defaultModel } from "./default-model.js";
import { type IndexShape, indexShape, indexSignature } from "./index-shape.js";
import {
  ddlOf,
  type Physical,
  type PhysicalColumn,
  type PhysicalForeignKey,
  type PhysicalTable,
  physicalKey,
  physicalTable,
  sameName,
} from "./physical.js";

/** A table of the database as svc.schema.yaml can express it. */
export interface TableModel {
  readonly table: Table;
  /** To be shown to a person. */
  readonly unmodelled: readonly Unmodelled[];
}

/** A feature of a table that svc.schema.yaml cannot express. */
export interface Unmodelled {
  readonly feature: string;
  /**
   * Whether the feature survives a rebuild of the table, because a statement of its own, such as CREATE INDEX, can be
   * run again.
   */
  readonly survivesRebuild: boolean;
  /** The column that svc.schema.yaml leaves out because of this feature, so that a rebuild would lose its values. */
  readonly column: string | null;
}

/** The type that svc.schema.yaml has, or will have, for a column of the database. */
export type TypeOf = (column: PhysicalColumn) => ColumnType;

/** Null if svc.schema.yaml does not allow the table's name, or allows none of its columns. */
export function tableModel(source: PhysicalTable, physical: Physical, typeOf: TypeOf): TableModel | null {
  const unmodelled: Unmodelled[] = [];
  const lost = (feature: string, column: string | null = null) =>
    unmodelled.push({ feature, survivesRebuild: false, column });
  const kept = (feature: string) => unmodelled.push({ feature, survivesRebuild: true, column: null });
  const ddl = ddlOf(source) ?? noDdl;
  const named = source.columns.filter(({ name, kind }) => kind === "ordinary" && isName(name));
  for (const column of source.columns) if (!named.includes(column)) leftOut(column, lost);
  if (named.length === 0 || !isName(source.name)) return null;

  const key = physicalKey(source);
  const keyIsNamed = key.every((name) => named.some((column) => column.name === name));
  if (!keyIsNamed) lost(`the primary key (${key.join(", ")}), of columns that are left out`);
  const names = named.map(({ name }) => name);
  const checks = checksByColumn(names, ddl, lost);
  const references = referencesByColumn(source, physical, names, lost, kept);
  for (const clause of ddl.clauses) lost(clause);
  if ([...ddl.columns.values()].some(({ deferrable }) => deferrable?.startsWith("DEFERRABLE")))
    kept("DEFERRABLE foreign keys");

  const columns = named.map((column): Column => {
    const type = typeOf(column);
    return {
      name: columnName(column.name),
      type,
      notNull: column.notNull || (source.strict && column.keyPosition > 0),
      default: defaultModel(column, type, lost),
      check: checks.get(column.name) ?? null,
      references: references.get(column.name) ?? null,
      managed: null,
      renamedFrom: null,
    };
  });
  const shapes = source.indexes
    .filter(({ origin }) => origin !== "primary_key")
    .flatMap((index) => {
      const shape = indexShape(index, names, ddl);
      if (shape === null)
        unmodelled.push({
          feature: `index ${index.name}`,
          survivesRebuild: index.origin === "created",
          column: null,
        });
      return shape === null ? [] : [shape];
    });
  const table: Table = {
    name: tableName(source.name),
    columns: new Map(columns.map((column) => [column.name, column])),
    primaryKey: keyIsNamed ? key.map(columnName) : [],
    ...indexesAndUnique(shapes, names),
    search: [],
    searchTokenizer: "unicode61",
    triggers: new Map(),
    historyDays: null,
    strict: source.strict,
    virtual: source.kind === "virtual",
    renamedFrom: null,
  };
  return { table, unmodelled };
}

type Lost = (feature: string, column?: string) => void;

function leftOut({ name, kind, notNull, default: value }: PhysicalColumn, lost: Lost): void {
  const required = notNull && value === null ? ", which new rows need a value for" : "";
  if (kind === "generated") lost(`generated column ${name}`);
  if (kind === "ordinary") lost(`column ${JSON.stringify(name)}, not a name${required}`, name);
}

/**
 * The CHECK of each column, as svc.schema.yaml can express it. A CHECK of the whole table is given to the first column
 * that it names, because SQLite lets a column's CHECK name other columns too.
 */
function checksByColumn(names: readonly string[], ddl: TableDdl, lost: Lost): ReadonlyMap<string, string> {
  const found = new Map<string, string[]>(
    names.map((name) => [name, ddl.columns.get(name.toLowerCase())?.checks.slice() ?? []]),
  );
  for (const check of ddl.checks) {
    const mentioned = namesIn(check);
    const home = names.find((name) => mentioned.has(name.toLowerCase())) ?? names[0]!;
    found.get(home)!.push(check);
  }
  const checks = new Map<string, string>();
  for (const [name, list] of found) {
    const sayable = list.filter((check) => fragmentProblem(check, names) === null);
    for (const check of list) if (!sayable.includes(check)) lost(`CHECK (${check})`);
    if (sayable.length > 0) checks.set(name, sayable.length === 1 ? sayable[0]! : conjunction(sayable));
  }
  return checks;
}

function conjunction(checks: readonly string[]): string {
  return checks.map((check) => `(${check})`).join(" and ");
}

function referencesByColumn(
  source: PhysicalTable,
  physical: Physical,
  names: readonly string[],
  lost: Lost,
  kept: (feature: string) => void,
): ReadonlyMap<string, Reference> {
  const references = new Map<string, Reference>();
  for (const key of source.foreignKeys) {
    const from = key.columns.map((column) => column.from).join(", ");
    const name = names.find((candidate) => sameName(candidate, from));
    const reference = key.columns.length === 1 ? referenceModel(key, physical) : null;
    const column = source.columns.find((candidate) => candidate.name === name);
    const impossible = key.onDelete === "set_null" && column?.notNull === true;
    if (name === undefined || reference === null || impossible || references.has(name))
      lost(`foreign key (${from}) to ${key.parent}`);
    else references.set(name, reference);
    if (key.onUpdate !== "no_action") kept(`ON UPDATE ${key.onUpdate.replace("_", " ")} of ${from}`);
  }
  return references;
}

/**
 * Null if svc.schema.yaml cannot express the foreign key. One that does not say which column it refers to means the
 * parent's primary key.
 */
function referenceModel(key: PhysicalForeignKey, physical: Physical): Reference | null {
  const parent = physicalTable(physical, key.parent);
  if (parent === undefined || parent.kind !== "ordinary") return null;
  const wanted = key.columns[0]!.to ?? (physicalKey(parent).length === 1 ? physicalKey(parent)[0]! : null);
  const column = parent.columns.find(({ name }) => wanted !== null && sameName(name, wanted));
  if (column === undefined || !isName(column.name)) return null;
  const toUsers = parent.name === usersTable && column.name === "id";
  if (!toUsers && !isName(parent.name)) return null;
  const table: TableName | "$users" = toUsers ? "$users" : tableName(parent.name);
  return { table, column: columnName(column.name), onDelete: key.onDelete };
}

/**
 * Splits a table's indexes into those that `unique` can express and the others. Unique indexes of a single column come
 * first, in the order of the columns, as the parser of svc.schema.yaml puts columns that are marked `unique`.
 */
function indexesAndUnique(
  shapes: readonly IndexShape[],
  names: readonly string[],
): { unique: readonly (readonly ColumnName[])[]; indexes: readonly Index[] } {
  const distinct = [...new Map(shapes.map((shape) => [indexSignature(shape), shape])).values()];
  const plain = (shape: IndexShape) =>
    shape.unique && shape.where === null && shape.columns.every(({ descending }) => !descending);
  const unique = distinct.filter(plain).map(({ columns }) => columns.map(({ name }) => name));
  const singles = unique
    .filter(({ length }) => length === 1)
    .sort((a, b) => names.indexOf(a[0]!) - names.indexOf(b[0]!));
  return {
    unique: [...singles, ...unique.filter(({ length }) => length > 1)],
    indexes: distinct.filter((shape) => !plain(shape)),
  };
}
