import type { Database } from "../../platform/database.js";
import type { Column, Schema, Table } from "../../project/model.js";
import { emptySchema } from "../../project/parse-schema.js";
import { columnsMax } from "../../project/schema-problems.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { affinity, guessType, makesNumbers, type TypeGuess, typeOfDeclaration } from "../../sqlite/column-type.js";
import { isName } from "../../sqlite/names.js";
import { loadPhysical } from "../physical/load-physical.js";
import { ownersSqlOf } from "../physical/owners-sql.js";
import { type Physical, type PhysicalColumn, type PhysicalTable, physicalTable } from "../physical/physical.js";
import { isSearchTable } from "../physical/search-index.js";
import { type TableModel, tableModel } from "../physical/table-model.js";
import { findUnsupported, limitsOf, type Unsupported } from "../physical/unsupported.js";
import { countInvalidTexts, schemaIsUtf8, storesUtf8 } from "../physical/utf8.js";
import { columnValues } from "./column-values.js";

/** A database as svc.schema.yaml can express it, with notes on what it cannot express. */
export interface Introspection {
  readonly schema: Schema;
  readonly notes: PullNotes;
}

/** Notes for a person on what a pulled svc.schema.yaml does not show. */
export interface PullNotes {
  /** Views and tables that are not in svc.schema.yaml, the tables each with the reason. */
  readonly leftOut: readonly string[];
  /** What the database has and svc.schema.yaml cannot express, by table. */
  readonly kept: readonly string[];
  /** Choices of types that a person may want to check. */
  readonly choices: readonly string[];
  /** Columns for which the server does not accept every value of their type. */
  readonly narrowed: readonly string[];
  /** What this database engine cannot do with tables, because functions, collations or other tables are missing. */
  readonly limited: readonly string[];
}

/**
 * Describes an existing database (docs/guides/existing-database.md). Throws if names or statements in the database's
 * own schema are not UTF-8.
 */
export async function introspect(database: Database): Promise<Introspection> {
  const utf8 = await storesUtf8(database);
  if (utf8 && !(await schemaIsUtf8(database))) throw new Error("names or statements of the schema are not UTF-8");
  const physical = await loadPhysical(database);
  const unsupported = await findUnsupported(database, ownersSqlOf(physical));
  const leftOut = physical.views.map(({ name }) => `view ${name}`);
  const choices: string[] = [];
  const narrowed: string[] = [];
  const models: TableModel[] = [];
  for (const table of physical.tables.values()) {
    if (table.kind === "shadow" || /^libsql_/i.test(table.name) || isSearchTable(table.name)) continue;
    const unread = unreadable(table, physical, unsupported);
    const read = unread === null ? await introspectTable(database, table, physical, utf8) : without(unread);
    if (read.outcome === "left_out") leftOut.push(`table ${table.name}: ${read.reason}`);
    else {
      models.push(read.model);
      choices.push(...read.choices);
      narrowed.push(...read.narrowed);
    }
  }
  const pruned = withSoundReferences(models);
  return {
    schema: { ...emptySchema, tables: new Map(pruned.map(({ table }) => [table.name, table])) },
    notes: {
      leftOut,
      kept: keptNotes(pruned, physical),
      choices,
      narrowed,
      limited: limitsOf(
        unsupported,
        pruned.map(({ table }) => table),
      ),
    },
  };
}

/**
 * Why a table is left out before its columns are looked at: this database engine cannot read it, or one of its foreign
 * keys leads to a table that is left out for the same reason.
 */
function unreadable(
  table: PhysicalTable,
  physical: Physical,
  { reads }: Pick<Unsupported, "reads">,
  seen = new Set([table]),
): string | null {
  const reason = reads.get(table.name);
  if (reason !== undefined) return `cannot be read here: ${reason}`;
  const parent = table.foreignKeys
    .flatMap((key) => physicalTable(physical, key.parent) ?? [])
    .find((each) => !seen.has(each) && unreadable(each, physical, { reads }, seen.add(each)) !== null);
  return parent === undefined ? null : `refers to ${parent.name}, which is left out`;
}

type Introspected =
  | {
      readonly outcome: "modelled";
      readonly model: TableModel;
      readonly choices: readonly string[];
      readonly narrowed: readonly string[];
    }
  | { readonly outcome: "left_out"; readonly reason: string };

function without(reason: string): Introspected {
  return { outcome: "left_out", reason };
}

async function introspectTable(
  database: Database,
  table: PhysicalTable,
  physical: Physical,
  utf8: boolean,
): Promise<Introspected> {
  if (!isName(table.name)) return without("not a name that the file can say");
  const columns = table.columns.filter(({ name, kind }) => kind === "ordinary" && isName(name)).map(({ name }) => name);
  if (columns.length === 0) return without("no column that the file can say");
  if (columns.length > columnsMax) return without(`more than ${columnsMax} columns`);
  const values = await columnValues(database, table, columns);
  if (utf8)
    for (const [name, { texts }] of values) {
      const invalid = texts === 0 ? 0 : await countInvalidTexts(database, table, name);
      if (invalid > 0) return without(`${invalid} texts of column ${name} are not UTF-8`);
    }
  const guessOf = (column: PhysicalColumn): TypeGuess => {
    const found = values.get(column.name);
    const guess = found === undefined ? null : guessType(column.declaredType, found);
    if (guess === null) return { type: typeOfDeclaration(column.declaredType), note: null };
    // A json column cannot be part of a primary key.
    return guess.type === "json" && column.keyPosition > 0 ? { type: "text", note: null } : guess;
  };
  const model = tableModel(table, physical, (column) => guessOf(column).type);
  if (model === null) return without("no column that the file can say");
  const said = table.columns.filter(({ name }) => model.table.columns.has(name));
  const notesOf = (noteOf: (column: PhysicalColumn) => string | null) =>
    said.flatMap((column) => {
      const note = noteOf(column);
      return note === null ? [] : [`${table.name}.${column.name}: ${note}`];
    });
  const choices = notesOf((column) => guessOf(column).note);
  const narrowed = notesOf((column) => numericTextNote(table, column, guessOf(column).type));
  return { outcome: "modelled", model, choices, narrowed };
}

/**
 * A note on a column whose SQL type makes SQLite turn texts that read as numbers into numbers, so that it does not
 * accept all texts (docs/guides/existing-database.md).
 */
function numericTextNote({ strict }: PhysicalTable, { declaredType }: PhysicalColumn, type: ColumnType) {
  if (strict || !makesNumbers(affinity(declaredType))) return null;
  if (type === "json") return `${declaredType} stores a number as such, so it takes those of up to 15 digits`;
  if (type !== "text") return null;
  return `${declaredType} turns texts that read as numbers into numbers, so it takes none of them`;
}

/**
 * Takes out the references that svc.schema.yaml cannot have: to a table or a column that is not in the file, to a
 * column that is not unique, or to a column of another type in a STRICT table. Each becomes an unmodelled feature.
 */
function withSoundReferences(models: readonly TableModel[]): TableModel[] {
  const tables = new Map<string, Table>(models.map(({ table }) => [table.name, table]));
  return models.map(({ table, unmodelled }) => {
    const lost = [...table.columns.values()].filter((column) => !isSound(column, tables));
    const columns = [...table.columns.values()].map((column) =>
      lost.includes(column) ? { ...column, references: null } : column,
    );
    return {
      table: { ...table, columns: new Map(columns.map((column) => [column.name, column])) },
      unmodelled: [
        ...unmodelled,
        ...lost.map(({ name, references }) => ({
          feature: `foreign key (${name}) to ${references!.table}`,
          survivesRebuild: false,
          column: null,
        })),
      ],
    };
  });
}

function isSound({ references, type }: Column, tables: ReadonlyMap<string, Table>): boolean {
  if (references === null) return true;
  if (references.table === "$users") return type === "text";
  const parent = tables.get(references.table);
  const target = parent?.columns.get(references.column);
  if (parent === undefined || target === undefined) return false;
  const alone = (columns: readonly string[]) => columns.length === 1 && columns[0] === references.column;
  return (alone(parent.primaryKey) || parent.unique.some(alone)) && (!parent.strict || target.type === type);
}

function keptNotes(models: readonly TableModel[], physical: Physical): string[] {
  return [
    ...models.flatMap(({ table, unmodelled }) => unmodelled.map(({ feature }) => `${table.name}: ${feature}`)),
    ...physical.triggers.map(({ name, on }) => `${on}: trigger ${name}`),
  ];
}
