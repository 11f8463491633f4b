import { quoteName, quoteText } from "../sqlite/sql-tokens.js";
import { imageSql, keySql, type LoggedColumn, type LoggedTable } from "./image.js";

const triggerPrefix = "_svc_log_";

/** Whether a trigger writes the log of changes, by the prefix of its name. */
export function isLogTrigger({ name }: { readonly name: string }): boolean {
  return name.toLowerCase().startsWith(triggerPrefix);
}

/**
 * SQL for a value of the log's transaction that a change belongs to: the newest one, if it is still open. NULL if a
 * program other than the server makes the change (docs/change-log.md).
 */
export function ofTransaction(value: string): string {
  return `(SELECT CASE WHEN seq IS NULL THEN ${value} END FROM _transactions ORDER BY id DESC LIMIT 1)`;
}

const openTransaction = ofTransaction("id");
/** SQL for the time in milliseconds since the epoch. `unixepoch('subsec')` is NULL in SQLite before 3.42. */
const nowMs = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
/** An entry of a change outside of transactions has a time of its own. */
const atOthers = `CASE WHEN ${openTransaction} IS NULL THEN ${nowMs} END`;

/**
 * SQL for a text that marks a row in `_staged` while a trigger of the server sets its managed columns. `of` is the row,
 * `old` or `new`. The log does not record that change: it belongs to the change that the trigger follows.
 */
export function managedMark(table: string, key: readonly string[], of: string): string {
  return [quoteText(`managed ${table}`), ...key.map((column) => `quote(${of}.${quoteName(column)})`)].join(
    " || ' ' || ",
  );
}

/**
 * The CREATE statements of the triggers that log the changes of a table, by the triggers' names. An entry of the log
 * has the row as it was before the change, if there was one (`docs/change-log.md`). `managed` are the columns that
 * triggers of the server set after a change.
 */
export function logTriggers(
  { table, columns, key }: LoggedTable,
  managed: readonly string[] = [],
): ReadonlyMap<string, string> {
  const entry = (op: string, row: "old" | "new", image: string) =>
    `  INSERT INTO _changes (witness, tx, at, tbl, pk, op, old) VALUES (random(), ${openTransaction}, ${atOthers}, ${quoteText(table)}, ${keySql(key, row)}, '${op}', ${image});\n`;
  const old = imageSql(columns, "old");
  const inserted = entry("insert", "new", "NULL");
  const deleted = entry("delete", "old", old);
  const isMoved = isChanged(key);
  const [set, others] = [columns.filter(isIn(managed)), columns.filter((column) => !isIn(managed)(column))];
  const mark = managedMark(
    table,
    key.map(({ name }) => name),
    "new",
  );
  const isUpdated =
    set.length === 0
      ? isChanged(columns)
      : `(${isChanged(others)} OR ${isChanged(set)} AND NOT EXISTS (SELECT 1 FROM _staged WHERE name = ${mark}))`;
  const trigger = (event: string, on: string, body: string, when = "") => {
    const name = `${triggerPrefix}${table}_${event}`;
    return [
      name,
      `CREATE TRIGGER ${quoteName(name)} AFTER ${on} ON ${quoteName(table)}${when} BEGIN\n${body}END`,
    ] as const;
  };
  return new Map([
    trigger("insert", "INSERT", inserted),
    trigger("delete", "DELETE", deleted),
    trigger("move", "UPDATE", deleted + inserted, ` WHEN ${isMoved}`),
    trigger("update", "UPDATE", entry("update", "old", old), ` WHEN NOT (${isMoved}) AND ${isUpdated}`),
  ]);
}

const isIn = (names: readonly string[]) => (column: LoggedColumn) => names.includes(column.name);

/**
 * The SQL condition that an update changes a value of these columns. Values are compared by BINARY, and in a column
 * that may hold any type by their type too, as 1 and 1.0 differ there.
 */
function isChanged(columns: readonly LoggedColumn[]): string {
  const values = (row: string) =>
    columns.flatMap(({ name, holds, collation }) => {
      const ref = `${row}.${quoteName(name)}`;
      return [collation === null ? ref : `${ref} COLLATE BINARY`, ...(holds === "any" ? [`typeof(${ref})`] : [])];
    });
  const [before, after] = [values("old"), values("new")];
  return before.length === 1
    ? `${before[0]} IS NOT ${after[0]}`
    : `(${before.join(", ")}) IS NOT (${after.join(", ")})`;
}
