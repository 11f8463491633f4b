import type { IndexColumn, Table } from "../project/model.js";
import { binary } from "../sqlite/column-type.js";
import { canonicalFragment, fragmentProblem } from "../sqlite/fragment.js";
import { columnName } from "../sqlite/names.js";
import { indexCondition, noDdl, type TableDdl } from "../sqlite/table-ddl.js";
import { ddlOf, type PhysicalIndex, type PhysicalTable, sameName } from "./physical.js";

/** What an index is apart from its name. `unique` of a column or a table is one of these too. */
export interface IndexShape {
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  readonly where: string | null;
}

/** Null for an index that the file cannot say: over expressions, in a collation of its own, with an odd condition. */
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

/** Every index that a table declares, `unique` included, in the file's order. */
export function declaredIndexes(table: Table): IndexShape[] {
  const unique = table.unique.map((columns) => ({
    columns: columns.map((name) => ({ name, descending: false })),
    unique: true,
    where: null,
  }));
  return [...unique, ...table.indexes];
}

/** Equal for indexes that do the same. */
export function indexSignature(shape: IndexShape): string {
  return indexName("", shape).toLowerCase();
}

/** `messages(room_id,-created_at)`, `unique rooms(owner_id,name)`. No name in the file can be one of these. */
export function indexName(table: string, { columns, unique, where }: IndexShape): string {
  const condition = where === null ? "" : ` where ${canonicalFragment(where)}`;
  return `${unique ? "unique " : ""}${table}(${columnList(columns)})${condition}`;
}

function columnList(columns: readonly IndexColumn[]): string {
  return columns.map(({ name, descending }) => (descending ? `-${name}` : name)).join(",");
}

/** By index of the table; an index that the file cannot say has none. */
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
