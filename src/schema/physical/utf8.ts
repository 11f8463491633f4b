import type { Database } from "../../platform/database.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { PhysicalTable } from "./physical.js";

/**
 * Counts the texts of a column that are not UTF-8, which SQLite does not check. Reading one as text could crash the
 * process in the driver, so texts are read as bytes.
 */
export async function countInvalidTexts(database: Database, table: PhysicalTable, column: string): Promise<number> {
  const name = quoteName(column);
  const suspects = `typeof(${name}) = 'text' AND ${name} GLOB ${notAscii}`;
  let invalid = 0;
  for (let read = 0; ; read += batchRows) {
    const sql = `SELECT CAST(${name} AS BLOB) FROM ${quoteName(table.name)} WHERE ${suspects} LIMIT ? OFFSET ?`;
    const [result] = await database.query([{ sql, params: [BigInt(batchRows), BigInt(read)] }]);
    invalid += result!.rows.filter(([bytes]) => bytes instanceof Uint8Array && !isUtf8(bytes)).length;
    if (result!.rows.length < batchRows) return invalid;
  }
}

const batchRows = 500;
const notAscii = "'*[^' || char(1) || '-' || char(127) || ']*'";

/** Whether every name and statement of the database's own schema is UTF-8. */
export async function schemaIsUtf8(database: Database): Promise<boolean> {
  const sql = "SELECT CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master";
  const [result] = await database.query([{ sql, params: [] }]);
  return result!.rows.every((row) => row.every((bytes) => !(bytes instanceof Uint8Array) || isUtf8(bytes)));
}

/**
 * Whether the database stores texts as UTF-8, by the bytes of a stored text. If it stores UTF-16, SQLite converts each
 * text when it is read, so what is read is always valid UTF-8. D1 does not have `pragma_encoding`.
 */
export async function storesUtf8(database: Database): Promise<boolean> {
  const [result] = await database.query([{ sql: "SELECT hex(CAST('a' AS BLOB)) AS stored", params: [] }]);
  return result!.rows[0]?.[0] === "61";
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
