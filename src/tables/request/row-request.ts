import { isObject } from "../../http/body.js";
import { type QueryParameter, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { type Affinity, makesNumbers } from "../../sqlite/column-type.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Access } from "../access/access.js";
import { isShownNumber, readsAsNumber, staysAsNumber } from "../access/numeric-text.js";
import { fromJson, fromText, isSafe } from "../access/values.js";

/** Values that a request gives to columns, by the columns' names. */
export type RowValues = ReadonlyMap<string, SqlValue>;

/** The answer 404, for a key that no row has. */
export const notFound = new Refusal("not_found", "no such row");

/** Reads the key in a path `/api/:table/:id`, for tables whose key has one column. */
export function singleKey({ table, catalog }: KeyedTable, text: string): RowValues | Refusal {
  const [only, ...others] = table.primaryKey;
  if (only === undefined) return noKey;
  if (others.length > 0)
    return badRequest(
      `${table.name} has a composite key: use /api/${table.name}/_svc/key?${table.primaryKey.join("=…&")}=…`,
    );
  return keyValues(table, () => text, catalog.tables.get(table.name));
}

/** Reads the key in the query of `/api/:table/_svc/key`: each column once (`docs/reference/http.md#keys`). */
export function compositeKey(
  { table, catalog }: KeyedTable,
  parameters: readonly QueryParameter[],
): RowValues | Refusal {
  if (table.primaryKey.length === 0) return noKey;
  const fields = new Map(parameters);
  for (const field of fields.keys())
    if (!(table.primaryKey as readonly string[]).includes(field))
      return badRequest(`${quoted(field)} is not part of the key`);
  const missing = table.primaryKey.find((field) => !fields.has(field));
  return missing === undefined
    ? keyValues(table, (field) => fields.get(field)!, catalog.tables.get(table.name))
    : badRequest(`key field ${missing} is missing`);
}

/** Reads a row's key in a body: an object of its columns. */
export function keyInBody({ table }: KeyedTable, sent: unknown): RowValues | Refusal {
  if (!isObject(sent)) return badRequest("key: expected an object of the columns of the primary key");
  const names: readonly string[] = table.primaryKey;
  if (names.length === 0) return noKey;
  const other = Object.keys(sent).find((name) => !names.includes(name));
  if (other !== undefined) return badRequest(`key: ${quoted(other)} is not part of the key`);
  const key = new Map<string, SqlValue>();
  for (const name of names) {
    if (sent[name] === undefined) return badRequest(`key: field ${name} is missing`);
    const parsed = fromJson(table.columns.get(name)!, sent[name]);
    if (!parsed.ok) return badRequest(`key: ${name}: expected ${parsed.expected}`);
    key.set(name, parsed.value);
  }
  return key;
}

/** Reads a row's key in a body: an object of its columns, or the value of its only one. */
export function keyOrValue(access: KeyedTable, sent: unknown): RowValues | Refusal {
  return typeof sent === "string" || typeof sent === "number"
    ? singleKey(access, String(sent))
    : keyInBody(access, sent);
}

type KeyedTable = Pick<Access, "table" | "catalog">;

const noKey = new Refusal(
  "method_not_allowed",
  "a table without a primary key can be listed and added to, nothing else",
);

function keyValues(
  table: Table,
  textOf: (field: string) => string,
  physical: CatalogTable | undefined,
): RowValues | Refusal {
  const values = new Map<string, SqlValue>();
  for (const field of table.primaryKey) {
    const column = table.columns.get(field)!;
    const parsed = fromText(column, textOf(field));
    if (!parsed.ok) return badRequest(`${field}: expected ${parsed.expected}`);
    const stored = numericAffinity(field, physical);
    // The column stores a text that reads as a number as that number, and would find the row by any spelling of it.
    // Only the spelling that JSON shows counts as the key.
    if (stored !== undefined && readsAsNumber(textOf(field)) && !isShownNumber(textOf(field), stored)) return notFound;
    values.set(field, parsed.value);
  }
  return values;
}

/** The affinity of a text or json column that stores numeric texts as numbers; undefined for others. */
function numericAffinity(column: string, physical: CatalogTable | undefined): Affinity | undefined {
  const stored = physical?.mixedTexts.get(column);
  return stored !== undefined && makesNumbers(stored) ? stored : undefined;
}

/** The JSON object in the body of a request. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * Checks a new row: types, column rules, and that the key is complete (`docs/reference/http.md#rows`). `mayExist` says
 * whether the row may exist already, as in an upsert. Its key need not be given then.
 */
export function createValues(
  access: Access,
  body: Body,
  mayExist: (values: RowValues) => boolean = () => false,
): RowValues | Refusal {
  const { table } = access;
  const physical = access.catalog.tables.get(table.name);
  const values = columnValues(table, body, physical);
  if (isRefusal(values)) return values;
  const missing = missingKey(access, values);
  return (
    forbiddenIn(values, access) ??
    unlessNumbered(values, physical?.rowid) ??
    (missing === null || (!values.has(missing) && mayExist(values)) ? values : keyExpected(missing))
  );
}

/** The first column of the primary key that would be NULL in a new row with these values; null if there is none. */
export function missingKey({ table, catalog }: KeyedTable, values: RowValues): ColumnName | null {
  const physical = catalog.tables.get(table.name);
  return table.primaryKey.find((name) => isLeftNull(table.columns.get(name)!, values, physical)) ?? null;
}

/** The answer 400 for a new row without a value for this column of its key. */
export function keyExpected(column: ColumnName): Refusal {
  return badRequest(`${column}: expected a value, as it is part of the primary key`, [column]);
}

/**
 * Whether a key column would be NULL in the new row. Tables that are not STRICT may allow that, but no request could
 * name the row. The rowid is never NULL: SQLite numbers the row.
 */
function isLeftNull(column: Column, values: RowValues, physical: CatalogTable | undefined): boolean {
  if (column.name === physical?.rowid) return false;
  return values.has(column.name) ? values.get(column.name) === null : column.default === null;
}

/**
 * Refuses a rowid beyond ±(2^53−1). SQLite numbers the next row after the highest rowid, so beyond the last integer
 * there would be no number for it.
 */
function unlessNumbered(values: RowValues, rowid: ColumnName | null | undefined): Refusal | null {
  const value = rowid && values.get(rowid);
  return typeof value === "bigint" && !isSafe(value) ? beyondNumbers(rowid!) : null;
}

/** The answer 400 for a row whose rowid would be beyond ±(2^53−1). */
export function beyondNumbers(rowid: ColumnName): Refusal {
  return badRequest(`${rowid}: expected an integer within ±(2^53−1)`, [rowid]);
}

/** Checks the values for an update: types, column rules, at least one column, and none of the primary key. */
export function patchValues(access: Access, body: Body): RowValues | Refusal {
  const { table } = access;
  const values = columnValues(table, body, access.catalog.tables.get(table.name));
  if (isRefusal(values)) return values;
  if (values.size === 0) return badRequest("expected at least one column to change");
  const keyColumns: readonly string[] = table.primaryKey;
  const key = [...values.keys()].find((column) => keyColumns.includes(column));
  return key === undefined
    ? (forbiddenIn(values, access) ?? values)
    : badRequest(`${key} is part of the primary key, which cannot be changed`, [key]);
}

/**
 * Whether a value would become another one in a column that turns texts which read as numbers into numbers. In a json
 * column it stays the same if its number comes back as the same JSON.
 */
function becomesAnother({ type }: Column, value: SqlValue): boolean {
  return typeof value === "string" && readsAsNumber(value) && !(type === "json" && staysAsNumber(value));
}

function forbiddenIn(values: RowValues, access: Access): Refusal | null {
  const column = [...values.keys()].find((name) => !access.mayWrite(name));
  if (column === undefined) return null;
  const rule = `rules.${access.table.name}.columns.${column}.write`;
  return new Refusal("forbidden", `you may not write ${column}`, { columns: [column], facts: { rule } });
}

function columnValues(table: Table, body: Body, physical: CatalogTable | undefined): RowValues | Refusal {
  const values = new Map<string, SqlValue>();
  // A body may have very many members, of which the first unknown one is refused.
  for (const name in body) {
    const value = body[name];
    const column = table.columns.get(name);
    if (column === undefined) return badRequest(`unknown column ${quoted(name)}`);
    if (column.managed !== null) return badRequest(`${name}: the server sets this column by itself`, [name]);
    const parsed = fromJson(column, value);
    if (!parsed.ok) return badRequest(`${name}: expected ${parsed.expected}`, [name]);
    if (numericAffinity(name, physical) !== undefined && becomesAnother(column, parsed.value))
      return badRequest(`${name}: the database would store that text as a number`, [name]);
    values.set(column.name, parsed.value);
  }
  return values;
}
