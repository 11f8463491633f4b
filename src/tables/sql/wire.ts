import { fromHex } from "../../encoding/hex.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainSql, scaledSql, unscaled } from "../../platform/real-scale.js";
import type { Column, Table } from "../../project/model.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { OrderTerm } from "../list/order.js";
import { chain, commaList, integer, type Sql, sql, sum, textLiteral } from "./fragment.js";

/** A column of an answer, by what decides about its form in JSON. */
export type ShownColumn = Pick<Column, "name" | "type">;

/** How a value is shown that may be long (docs/reference/http.md#previews). */
export interface Cut {
  /** The condition that it is shown by its beginning. */
  readonly isLong: Sql;
  /** How many bytes it has, if it is long. */
  readonly bytes: Sql;
  /** Its beginning, if it is long; that of a blob in hexadecimal. */
  readonly beginning: Sql;
  /** About how many bytes are shown. */
  readonly shownBytes: Sql;
}

/** The `Cut` of a column; null where its values are shown whole, however long they are. */
export type CutOf<C> = (column: C) => Cut | null;

const uncut = () => null;

/**
 * An SQL expression for a row as a JSON object (`docs/reference/http.md#values`). It writes reals with 17 digits and
 * blobs in hexadecimal, which `finishRows` turns into their final form.
 */
export function jsonObject<C extends ShownColumn>(
  columns: readonly C[],
  refer: (column: C) => Sql,
  physical: Pick<CatalogTable, "affinities"> | undefined,
  cutOf: CutOf<C> = uncut,
): Sql {
  const shownOf = (column: C) => {
    const value = shownValue(column, refer(column), physical);
    const cut = cutOf(column);
    return cut === null
      ? value
      : sql`CASE WHEN ${cut.isLong} THEN json_object('$preview', ${cut.beginning}, 'bytes', ${cut.bytes}) ELSE ${value} END`;
  };
  if (columns.length > jsonObjectPairsMax) return concatenatedObject(columns, shownOf);
  const pairs = columns.flatMap((column) => [textLiteral(column.name), shownOf(column)]);
  return sql`json_object(${commaList(pairs)})`;
}

/**
 * A row as `jsonObject` writes it, or `otherwise` where the stored values of these columns are larger than the
 * database can put into one answer.
 */
export function jsonWithin(
  { answerBytesMax, tables }: Catalog,
  table: Table,
  columns: readonly Column[],
  refer: (column: Column) => Sql,
  otherwise: Sql,
  cutOf: CutOf<Column> = uncut,
): Sql {
  const bytes = storedBytes(columns, refer, cutOf);
  const row = jsonObject(columns, refer, tables.get(table.name), cutOf);
  if (bytes.text === "0") return row;
  return sql`CASE WHEN ${bytes} <= ${integer(answerBytesMax)} THEN ${row} ELSE ${otherwise} END`;
}

/** A JSON array of values. */
export function jsonArray(values: readonly Sql[]): Sql {
  return sql`json_array(${commaList(values)})`;
}

/**
 * How many bytes the texts, JSON and blobs in these columns have, as far as they are shown. SQLite knows that without
 * reading them.
 */
export function storedBytes<C extends ShownColumn>(
  columns: readonly C[],
  refer: (column: C) => Sql,
  cutOf: CutOf<C> = uncut,
): Sql {
  const sizes = columns
    .filter(({ type }) => type === "text" || type === "json" || type === "blob")
    .map((column) => sql`ifnull(${cutOf(column)?.shownBytes ?? sql`octet_length(${refer(column)})`}, 0)`);
  return sum(sizes);
}

/** How many members one call of json_object can have, because D1 allows 32 arguments of a function at most. */
const jsonObjectPairsMax = 16;

function concatenatedObject<C extends ShownColumn>(columns: readonly C[], shownOf: (column: C) => Sql): Sql {
  const members = columns.map((column, i) => {
    const key = { text: `'${i === 0 ? "{" : ","}"${column.name}":'`, params: [] };
    return sql`(${key} || json_quote(${shownOf(column)}))`;
  });
  // json() marks the text as JSON. Without it, json_array would hold it as a string.
  return sql`json(${chain(members, sql` || `)} || '}')`;
}

/**
 * The value of a column in JSON, as in `jsonObject`. JSON has no infinities: in columns of type real `finishRows`
 * replaces them, in others they become null here.
 */
export function shownValue(
  column: ShownColumn,
  ref: Sql,
  physical: Pick<CatalogTable, "affinities"> | undefined,
): Sql {
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

/** A real in JSON: a number, or for one of an extreme size an array `[number, exponent]` (`platform/real-scale.ts`). */
export function realJson(ref: Sql): Sql {
  const { number, exponent } = scaledSql(ref.text);
  const text = `CASE WHEN typeof(${ref.text}) <> 'real' THEN ${ref.text}
    WHEN ${isPlainSql(ref.text)} THEN json(printf('%!.17g', ${ref.text}))
    ELSE json_array(json(printf('%!.17g', ${number})), ${exponent}) END`;
  return { text, params: [] };
}

/**
 * A value of a cursor's key in JSON. Texts and NULL stand for themselves. Others are an array with a letter for their
 * type in SQLite and the value: `["i", "12"]`, `["r", 1.5]`, `["b", "00ff"]`, because the order of values depends on
 * their type. The type is looked at only where the column can hold values of several.
 */
export function keyValue(
  { column, nullable }: OrderTerm,
  ref: Sql,
  physical: Pick<CatalogTable, "affinities"> | undefined,
): Sql {
  const integer = sql`json_array('i', CAST(${ref} AS TEXT))`;
  const infinite = sql`json_array('r', CASE WHEN ${ref} > 0 THEN 1 ELSE -1 END, 1024)`;
  const real = sql`CASE WHEN abs(${ref}) = 9e999 THEN ${infinite} ELSE json_array('r', ${realJson(ref)}) END`;
  const blob = sql`json_array('b', hex(${ref}))`;
  if (physical === undefined || physical.affinities.has(column.name))
    return sql`CASE typeof(${ref}) WHEN 'integer' THEN ${integer} WHEN 'real' THEN ${real} WHEN 'blob' THEN ${blob} ELSE ${ref} END`;
  const typed = { integer, boolean: integer, real, blob, text: ref, json: ref }[column.type];
  return typed === ref || !nullable ? typed : sql`CASE WHEN ${ref} IS NOT NULL THEN ${typed} END`;
}

/** Turns what `keyValue` wrote, after JSON.parse, into the value of the key. */
export function storedOf(value: unknown): SqlValue {
  if (!Array.isArray(value)) return value as string | null;
  const [kind, content, exponent] = value;
  if (kind === "i") return BigInt(content as string);
  if (kind === "b") return fromHex(content as string);
  return (exponent === undefined ? realOf(content) : realOf([content, exponent])) as number;
}

/** Turns what `realJson` wrote, after JSON.parse, into the real. Other values come back as they are. */
export function realOf(value: unknown): unknown {
  return Array.isArray(value) ? unscaled(value[0] as number, value[1] as number) : value;
}
