import type { Table } from "../../project/model.js";
import type { TableName } from "../../sqlite/names.js";
import { quoteName, quoteText } from "../../sqlite/sql-tokens.js";
import { type Physical, rowidName } from "../physical/physical.js";
import { bystanders, dropBystanders, restoreBystanders } from "./bystanders.js";
import { createTable, dropTable, inlineKey, type Keepsakes, renameTable } from "./ddl.js";
import { valueAfter } from "./image-after.js";
import { keepsakes } from "./keepsakes.js";
import type { TableChange } from "./table-change.js";

/**
 * Rebuilds a table (SQLite, "Making Other Kinds Of Table Schema Changes"): a new table is created under a temporary
 * name and gets the rows, the old table is dropped, and the new one takes its name. Foreign keys of other tables refer
 * to the table by its name and so stay valid. The table's indexes, and the triggers and views that mention it, are
 * created again as they were.
 */
export function rebuildStatements(change: TableChange, physical: Physical): string[] {
  const { current, target } = change;
  const kept = keepsakes(change);
  const temporary = `_rebuild_${current.name}`;
  const around = bystanders(physical, [current.name]);
  return [
    ...dropBystanders(around, [change.physical]),
    createTable(withOwnReferences(target, temporary), kept, temporary),
    copyRows(change, kept, temporary),
    ...(kept.autoincrement ? keepSequence(current.name, temporary) : []),
    dropTable(current.name),
    renameTable(temporary, current.name),
    ...change.indexes.kept.map(({ sql }) => sql!),
    ...restoreBystanders(around),
  ];
}

/**
 * Foreign keys of the new table to itself refer to the temporary name. Otherwise DROP TABLE, which deletes the old
 * table's rows, would carry out ON DELETE CASCADE or SET NULL on the copied rows. When the new table is renamed at the
 * end, SQLite also changes the name in these foreign keys.
 */
function withOwnReferences(table: Table, temporary: string): Table {
  const columns = [...table.columns.values()].map((column) =>
    column.references?.table === table.name
      ? { ...column, references: { ...column.references, table: temporary as TableName } }
      : column,
  );
  return { ...table, columns: new Map(columns.map((column) => [column.name, column])) };
}

function copyRows({ current, target, physical }: TableChange, kept: Keepsakes, temporary: string): string {
  const columns = [...target.columns.values()];
  const names = columns.map(({ name }) => quoteName(name));
  const values = columns.map((column) => valueAfter(column, current));
  const taken = [...physical.columns.map(({ name }) => name), ...target.columns.keys()];
  const rowid = physical.hasRowid && !kept.withoutRowid ? rowidName(taken) : null;
  if (rowid !== null && inlineKey(target, kept) === null) {
    names.unshift(rowid);
    values.unshift(rowid);
  }
  const order = rowid === null ? "" : ` ORDER BY ${rowid}`;
  return `INSERT INTO ${quoteName(temporary)} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${quoteName(current.name)}${order}`;
}

/**
 * Copies a table's AUTOINCREMENT counter to its successor, so that the number of a deleted row is never given again.
 */
function keepSequence(table: string, temporary: string): string[] {
  return [
    `DELETE FROM sqlite_sequence WHERE name = ${quoteText(temporary)}`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT ${quoteText(temporary)}, seq FROM sqlite_sequence WHERE name = ${quoteText(table)}`,
  ];
}
