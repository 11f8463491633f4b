import type { SqlValue } from "../../platform/database.js";
import { combined, onlyRow, type Query } from "../../platform/query.js";
import type { Column } from "../../project/model.js";
import { bind, commaList, param, type Sql, sql } from "../sql-text/fragment.js";

/** A value from the log of changes that is of another type than its column is now. */
export interface EarlierValue {
  readonly column: Pick<Column, "name" | "type">;
  readonly value: string | number;
}

/** Casts values to the types that their columns have now. */
export function castValues(values: readonly EarlierValue[]): Query<ReadonlyMap<string, SqlValue>> {
  const row = onlyRow(bind(sql`SELECT ${commaList(values.map(castSql))}`, []), (found) => found);
  return combined(
    row,
    (found) => new Map(values.map(({ column }, i): [string, SqlValue] => [column.name, sqlValue(column, found[i]!)])),
  );
}

function castSql({ column, value }: EarlierValue): Sql {
  const given = param(typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value);
  switch (column.type) {
    case "integer":
      // As a text, because an integer in a result may be a JavaScript number, which has 53 bits.
      return sql`CAST(CAST(${given} AS INTEGER) AS TEXT)`;
    case "boolean":
      return sql`CAST(CAST(${given} AS INTEGER) <> 0 AS TEXT)`;
    case "real":
      return sql`CAST(${given} AS REAL)`;
    default:
      return sql`CAST(${given} AS TEXT)`;
  }
}

function sqlValue({ type }: EarlierValue["column"], found: SqlValue): SqlValue {
  return type === "integer" || type === "boolean" ? BigInt(String(found)) : found;
}
