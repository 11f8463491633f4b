import type { Database } from "../../../src/platform/database.js";
import { type Row, toSql } from "./values.js";

/** Puts rows straight into a table. All of them have the columns of the first. */
export async function insertRows(database: Database, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0]!);
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  await database.batch(rows.map((row) => ({ sql, params: columns.map((column) => toSql(row[column]!)) })));
}
