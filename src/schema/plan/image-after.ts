import { firstVersion } from "../../project/managed.js";
import type { Column, Table } from "../../project/model.js";
import { carriedName } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { conversion } from "./conversion.js";
import { defaultSql } from "./ddl.js";

/**
 * SQL to stand behind FROM for the rows that a table will have after its change, whose columns have their `carriedName`.
 * With it, a plan counts the rows that
 * would break new constraints.
 */
export function imageAfter(current: Table, target: Table): string {
  const columns = [...target.columns.values()].map(
    (column) => `${valueAfter(column, current)} AS ${quoteName(carriedName(column.name))}`,
  );
  return `(SELECT ${columns.join(", ")} FROM ${quoteName(current.name)})`;
}

/**
 * SQL for the value that a column will have after a change of its table, over the table as it is before, or over a copy
 * of it whose columns are `called` otherwise.
 */
export function valueAfter(column: Column, current: Table, called = (name: string) => name): string {
  const before = current.columns.get(column.name);
  if (before === undefined) return column.default === null ? "NULL" : defaultSql(column.default);
  const name = quoteName(called(column.name));
  const value = before.type === column.type ? name : (conversion(name, before.type, column.type)?.value ?? "NULL");
  const isNewVersion = column.managed === "version" && before.managed !== "version";
  return isNewVersion ? `ifnull(${value}, ${firstVersion})` : value;
}
