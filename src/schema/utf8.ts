import type { Database } from "../platform/database.js";
import { quoteName } from "../sqlite/sql-tokens.js";
import type { PhysicalTable } from "./physical.js";

/**
 * How many texts of a column are not UTF-8. SQLite does not check, and a driver that reads one as text may take the
 * whole process down, so that they are read as bytes.
 */
export async function countInvalidTexts(
  database: Database,
  table: PhysicalTable,
  column: string,
): Promise<number> {
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

/** Whether every name and statement of the schema itself is UTF-8. */
export async function schemaIsUtf8(database: Database): Promise<boolean> {
  const sql = "SELECT CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master";
  const [result] = await database.query([{ sql, params: [] }]);
  return result!.rows.every((row) => row.every((bytes) => !(bytes instanceof Uint8Array) || isUtf8(bytes)));
}

/**
 * Whether texts are stored as UTF-8 at all: as UTF-16, SQLite makes the UTF-8 itself, which is then valid. D1 has no
 * `pragma_encoding`.
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
