import type { IndexColumn, Table } from "../project/model.js";
import { binary } from "../sqlite/column-type.js";
import { canonicalFragment, fragmentProblem } from "../sqlite/fragment.js";
import { columnName } from "../sqlite/names.js";
import { indexCondition, noDdl, type TableDdl } from "../sqlite/table-ddl.js";
import { ddlOf, type PhysicalIndex, type PhysicalTable, sameName } from "./physical.js";

/**
 * What an index does, without its name: its columns, uniqueness and condition. A `unique` of a column or a table has
 * this form too.
 */
export interface IndexShape {
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  readonly where: string | null;
}

/**
 * What an index of the database covers; null where svc.schema.yaml cannot express it: with expressions, with a
 * collation other than the column's, or with a condition that the file does not allow.
 */
export function indexShape(index: PhysicalIndex, names: readonly string[], ddl: TableDdl): IndexShape | null {
  const columns = index.columns.map(({ name, descending, collation }) => {
    const named = names.find((candidate) => name !== null && sameName(candidate, name));
    const usual = ddl.columns.get(name?.toLowerCase() ?? "")?.collation ?? binary;
    return named !== undefined && sameName(usual, collation) ? { name: columnName(named), descending } : null;
  });
  const where = index.partial ? indexCondition(index.sql ?? "") : null;
  const sayable = columns.every((column) => column !== null);
  if (!sayable || (index.partial && (where === null || fragmentProblem(where, names) !== null))) return null;
  return { columns, unique: index.unique, where };
}

/** All indexes that a table declares: first those of `unique`, then the others, both in the order of the file. */
export function declaredIndexes(table: Table): IndexShape[] {
  const unique = table.unique.map((columns) => ({
    columns: columns.map((name) => ({ name, descending: false })),
    unique: true,
    where: null,
  }));
  return [...unique, ...table.indexes];
}

/** A text for comparing indexes: it is equal for indexes with the same effect, whatever their names are. */
export function indexSignature(shape: IndexShape): string {
  return indexName("", shape).toLowerCase();
}

/**
 * The name of an index in the database, such as `messages(room_id,-created_at)` or `unique rooms(owner_id,name)`. It
 * cannot clash with a table of the file, whose name has no parentheses.
 */
export function indexName(table: string, { columns, unique, where }: IndexShape): string {
  const condition = where === null ? "" : ` where ${canonicalFragment(where)}`;
  return `${unique ? "unique " : ""}${table}(${columnList(columns)})${condition}`;
}

function columnList(columns: readonly IndexColumn[]): string {
  return columns.map(({ name, descending }) => (descending ? `-${name}` : name)).join(",");
}

/**
 * For each index of a table in the database, the text by which `indexSignature` tells what the index does. Indexes that
 * svc.schema.yaml cannot express are left out.
 */
export function indexSignatures(physical: PhysicalTable): ReadonlyMap<PhysicalIndex, string> {
  const ddl = ddlOf(physical) ?? noDdl;
  const names = physical.columns.map(({ name }) => name);
  return new Map(
    physical.indexes.flatMap((index) => {
      const shape = indexShape(index, names, ddl);
      return shape === null ? [] : [[index, indexSignature(shape)] as const];
    }),
  );
}
