import { firstVersion } from "../../project/managed.js";
import type { Column, Table } from "../../project/model.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { conversion } from "./conversion.js";
import { defaultSql } from "./ddl.js";

/**
 * SQL to stand behind FROM for the rows that a table will have after its change. With it, a plan counts the rows that
 * would break new constraints.
 */
export function imageAfter(current: Table, target: Table): string {
  const columns = [...target.columns.values()].map(
    (column) => `${valueAfter(column, current)} AS ${quoteName(column.name)}`,
  );
  return `(SELECT ${columns.join(", ")} FROM ${quoteName(current.name)})`;
}

/** SQL, over the table as it is before its change, for the value that a column will have after it. */
export function valueAfter(column: Column, current: Table): string {
  const before = current.columns.get(column.name);
  if (before === undefined) return column.default === null ? "NULL" : defaultSql(column.default);
  const name = quoteName(column.name);
  const value = before.type === column.type ? name : (conversion(name, before.type, column.type)?.value ?? "NULL");
  const isNewVersion = column.managed === "version" && before.managed !== "version";
  return isNewVersion ? `ifnull(${value}, ${firstVersion})` : value;
}
