import type { IndexColumn, Table } from "../../project/model.js";
import { binary } from "../../sqlite/column-type.js";
import { canonicalFragment, fragmentProblem } from "../../sqlite/fragment.js";
import { columnName } from "../../sqlite/names.js";
import { indexCondition, noDdl, type TableDdl } from "../../sqlite/table-ddl.js";
import { ddlOf, type PhysicalIndex, type PhysicalTable, sameName } from "./physical.js";

/** What an index, or a `unique` in svc.schema.yaml, does: its columns, uniqueness and condition. */
export interface IndexShape {
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  readonly where: string | null;
}

/**
 * Null if svc.schema.yaml cannot express the index, because it has expressions, a collation other than its column's, or
 * a condition that svc.schema.yaml does not allow.
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

/**
 * The indexes that svc.schema.yaml declares for a table: those of `unique`, then those of `indexes`, in the file's
 * order.
 */
export function declaredIndexes(table: Table): IndexShape[] {
  const unique = table.unique.map((columns) => ({
    columns: columns.map((name) => ({ name, descending: false })),
    unique: true,
    where: null,
  }));
  return [...unique, ...table.indexes];
}

/** A text that is equal for indexes of one table with the same effect, whatever their names are. */
export function indexSignature(shape: IndexShape): string {
  return indexName("", shape).toLowerCase();
}

/**
 * The name of an index in the database, such as `messages(room_id,-created_at)` or `unique rooms(owner_id,name)`. It
 * cannot clash with a table of svc.schema.yaml, because names of tables have no parentheses there.
 */
export function indexName(table: string, { columns, unique, where }: IndexShape): string {
  const condition = where === null ? "" : ` where ${canonicalFragment(where)}`;
  return `${unique ? "unique " : ""}${table}(${columnList(columns)})${condition}`;
}

function columnList(columns: readonly IndexColumn[]): string {
  return columns.map(({ name, descending }) => (descending ? `-${name}` : name)).join(",");
}

/**
 * The indexes that a table has in the database, with their `indexSignature`. Those that svc.schema.yaml cannot express
 * are left out.
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
