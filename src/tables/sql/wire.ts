import { fromHex } from "../../encoding/hex.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainSql, scaledSql, unscaled } from "../../platform/real-scale.js";
import type { Column, Table } from "../../project/model.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { OrderTerm } from "../list/order.js";
import { chain, commaList, integer, type Sql, sql, sum, textLiteral } from "./fragment.js";

/**
 * JSON text made by SQLite (interface, section 3: column types and their JSON). Reals carry 17 digits and blobs are
 * hexadecimal; `finishRows` gives both their final form.
 */
export function jsonObject(
  columns: readonly Column[],
  refer: (column: Column) => Sql,
  physical: CatalogTable | undefined,
): Sql {
  const shownOf = (column: Column) => shownValue(column, refer(column), physical);
  if (columns.length > jsonObjectPairsMax) return concatenatedObject(columns, shownOf);
  const pairs = columns.flatMap((column) => [textLiteral(column.name), shownOf(column)]);
  return sql`json_object(${commaList(pairs)})`;
}

/** A row as JSON, or something else where it is larger than an answer can be. */
export function jsonWithin(
  { answerBytesMax, tables }: Catalog,
  table: Table,
  columns: readonly Column[],
  refer: (column: Column) => Sql,
  otherwise: Sql,
): Sql {
  const bytes = storedBytes(columns, refer);
  const row = jsonObject(columns, refer, tables.get(table.name));
  if (bytes.text === "0") return row;
  return sql`CASE WHEN ${bytes} <= ${integer(answerBytesMax)} THEN ${row} ELSE ${otherwise} END`;
}

export function jsonArray(values: readonly Sql[]): Sql {
  return sql`json_array(${commaList(values)})`;
}

/** How many bytes these columns of a row hold; text that SQLite need not read to know. */
export function storedBytes(columns: readonly Column[], refer: (column: Column) => Sql): Sql {
  const sizes = columns
    .filter(({ type }) => type === "text" || type === "json" || type === "blob")
    .map((column) => sql`ifnull(octet_length(${refer(column)}), 0)`);
  return sum(sizes);
}

/** D1 takes 32 arguments in a function call. */
const jsonObjectPairsMax = 16;

function concatenatedObject(columns: readonly Column[], shownOf: (column: Column) => Sql): Sql {
  const members = columns.map((column, i) => {
    const key = { text: `'${i === 0 ? "{" : ","}"${column.name}":'`, params: [] };
    return sql`(${key} || json_quote(${shownOf(column)}))`;
  });
  // As JSON, or an array would hold it as a string.
  return sql`json(${chain(members, sql` || `)} || '}')`;
}

/** JSON has no infinities. Where the column's type is real, `finishRows` sees to them. */
function shownValue(column: Column, ref: Sql, physical: CatalogTable | undefined): Sql {
  const value = wireValue(column, ref);
  const stored = physical?.affinities.get(column.name) ?? "text";
  if (stored === "text" || column.type === "real") return value;
  return sql`CASE WHEN typeof(${ref}) <> 'real' OR abs(${ref}) < 9e999 THEN ${value} END`;
}

function wireValue(column: Pick<Column, "type">, ref: Sql): Sql {
  switch (column.type) {
    case "integer":
      return sql`CASE WHEN ${ref} BETWEEN -9007199254740991 AND 9007199254740991 THEN ${ref} ELSE CAST(${ref} AS TEXT) END`;
    case "real":
      return realJson(ref);
    case "text":
      return ref;
    case "boolean":
      return sql`CASE ${ref} WHEN 0 THEN json('false') WHEN 1 THEN json('true') ELSE ${ref} END`;
    case "json":
      return sql`CASE WHEN json_valid(${ref}) THEN json(${ref}) ELSE ${ref} END`;
    case "blob":
      return sql`CASE WHEN ${ref} IS NOT NULL THEN hex(${ref}) END`;
  }
}

/** Of a column: a number, or for one of an extreme size `[number, exponent]` (see `real-scale.ts`). */
function realJson(ref: Sql): Sql {
  const { number, exponent } = scaledSql(ref.text);
  const text = `CASE WHEN typeof(${ref.text}) <> 'real' THEN ${ref.text}
    WHEN ${isPlainSql(ref.text)} THEN json(printf('%!.17g', ${ref.text}))
    ELSE json_array(json(printf('%!.17g', ${number})), ${exponent}) END`;
  return { text, params: [] };
}

/**
 * A value of a cursor: a text or NULL is itself, and others come as an array of one or two elements behind the letter of
 * what they are, since their order depends on it. Where SQLite holds the column to its type, there is no more to ask.
 */
export function keyValue({ column, nullable }: OrderTerm, ref: Sql, physical: CatalogTable | undefined): Sql {
  const integer = sql`json_array('i', CAST(${ref} AS TEXT))`;
  const infinite = sql`json_array('r', CASE WHEN ${ref} > 0 THEN 1 ELSE -1 END, 1024)`;
  const real = sql`CASE WHEN abs(${ref}) = 9e999 THEN ${infinite} ELSE json_array('r', ${realJson(ref)}) END`;
  const blob = sql`json_array('b', hex(${ref}))`;
  if (physical === undefined || physical.affinities.has(column.name))
    return sql`CASE typeof(${ref}) WHEN 'integer' THEN ${integer} WHEN 'real' THEN ${real} WHEN 'blob' THEN ${blob} ELSE ${ref} END`;
  const typed = { integer, boolean: integer, real, blob, text: ref, json: ref }[column.type];
  return typed === ref || !nullable ? typed : sql`CASE WHEN ${ref} IS NOT NULL THEN ${typed} END`;
}

/** What `keyValue` has written. */
export function storedOf(value: unknown): SqlValue {
  if (!Array.isArray(value)) return value as string | null;
  const [kind, content, exponent] = value;
  if (kind === "i") return BigInt(content as string);
  if (kind === "b") return fromHex(content as string);
  return (exponent === undefined ? realOf(content) : realOf([content, exponent])) as number;
}

/** A real of `wireValue` as it was stored. */
export function realOf(value: unknown): unknown {
  return Array.isArray(value) ? unscaled(value[0] as number, value[1] as number) : value;
}
