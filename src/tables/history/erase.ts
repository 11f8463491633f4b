import { deleteUnused } from "../../changes/retention.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { parseStrictJson } from "../../http/strict-json.js";
import type { Database, SqlValue } from "../../platform/database.js";
import type { Schema, Table } from "../../project/model.js";
import type { Catalog } from "../../schema/catalog.js";
import { fromJson, fromText } from "../access/values.js";
import { erasure } from "../sql/erasure.js";
import { loggedTable } from "../sql/logged.js";

/**
 * Erases the images of one row from the log of changes (docs/change-log.md#erasing-a-row). Returns how many entries had
 * any; a refusal where the table keeps no history, where `keyText` is no key of it, or where the log has none of the
 * row.
 */
export async function eraseHistory(
  database: Pick<Database, "batch">,
  { schema, catalog }: { readonly schema: Schema; readonly catalog: Catalog },
  tableName: string,
  keyText: string,
): Promise<{ readonly entries: number } | Refusal> {
  const table = schema.tables.get(tableName);
  if (table === undefined) return new Refusal("not_found", `there is no table ${tableName}`);
  if (table.historyDays === null) return new Refusal("not_found", `${tableName} keeps no history`);
  const key = erasedKey(table, keyText);
  if (isRefusal(key)) return key;
  const physical = catalog.tables.get(table.name)!;
  const results = await database.batch(erasure(loggedTable(table, physical), physical, key));
  const entries = results[0]!.rows[0]?.[0] as number | undefined;
  if (entries === undefined) return nothingToErase;
  await deleteUnused(database, results.at(-1)!);
  return { entries };
}

const nothingToErase = new Refusal("not_found", "the log has nothing of that row but that it is there, if it is");

/**
 * Parses the text that names a primary key: a JSON object of the key's columns, or, where the key has one column, its
 * value in the form that it has in the path of a row. Returns a refusal for any other text.
 */
function erasedKey(table: Table, text: string): ReadonlyMap<string, SqlValue> | Refusal {
  const { primaryKey } = table;
  const object = objectIn(text);
  const isKey = (names: readonly string[]) =>
    names.length === primaryKey.length && primaryKey.every((name) => names.includes(name));
  const isObject = object !== null && isKey(Object.keys(object));
  if (!isObject && primaryKey.length > 1)
    return badRequest(`the key: expected a JSON object with ${primaryKey.join(", ")}, and nothing else`);
  const values = new Map<string, SqlValue>();
  for (const name of primaryKey) {
    const column = table.columns.get(name)!;
    const parsed = isObject ? fromJson(column, object[name]) : fromText(column, text);
    if (!parsed.ok) return badRequest(`the key: ${name}: expected ${parsed.expected}`);
    values.set(name, parsed.value);
  }
  return values;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  const parsed = parseStrictJson(text);
  if (isRefusal(parsed)) return null;
  const { value } = parsed;
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
