import { fromHex } from "../../encoding/hex.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainSql, scaledSql, unscaled } from "../../platform/real-scale.js";
import type { Column, Table } from "../../project/model.js";
import { type Catalog, type CatalogTable, functionArgumentsMin } from "../../schema/catalog.js";
import type { Affinity } from "../../sqlite/column-type.js";
import { wideIn } from "../plan/list-plan.js";
import type { OrderTerm } from "../plan/order.js";
import { chain, commaList, integer, type Sql, sql, sum, textLiteral } from "../sql-text/fragment.js";

/** What has to be known of a column to show its values in JSON. */
export type ShownColumn = Pick<Column, "name" | "type">;

/** The SQL by which a column shows only the beginning of a value that is long (docs/reference/http.md#previews). */
export interface Cut {
  /** The condition that the value is so long that only its beginning is shown. */
  readonly isLong: Sql;
  /** The SQL of how many bytes the value has. */
  readonly bytes: Sql;
  /** The SQL of the value's beginning. Used where `isLong` is TRUE; that of a blob is in hexadecimal. */
  readonly beginning: Sql;
  /** The SQL of about how many bytes of the value are shown. */
  readonly shownBytes: Sql;
}

/** Gives the `Cut` of a column, by which long values are shortened; null for a column whose values are shown whole. */
export type CutOf<C> = (column: C) => Cut | null;

const uncut = () => null;

/**
 * Makes an SQL expression for a row as a JSON object (`docs/reference/http.md#values`). In it reals have 17 digits, and
 * blobs are in hexadecimal: `finishRows` gives them their final form outside of SQL.
 */
export function jsonObject<C extends ShownColumn>(
  columns: readonly C[],
  refer: (column: C) => Sql,
  physical: Pick<CatalogTable, "affinities" | "functionArgumentsMax"> | undefined,
  cutOf: CutOf<C> = uncut,
): Sql {
  const shownOf = (column: C) => {
    const value = shownValue(column, refer(column), physical);
    const cut = cutOf(column);
    return cut === null
      ? value
      : sql`CASE WHEN ${cut.isLong} THEN json_object('$preview', ${cut.beginning}, 'bytes', ${cut.bytes}) ELSE ${value} END`;
  };
  if (2 * columns.length > (physical?.functionArgumentsMax ?? functionArgumentsMin))
    return concatenatedObject(columns, shownOf);
  const pairs = columns.flatMap((column) => [textLiteral(column.name), shownOf(column)]);
  return sql`json_object(${commaList(pairs)})`;
}

/**
 * Makes the SQL of a row as JSON, like `jsonObject`. Where the stored values of these columns are larger than the
 * database can put into one answer, the value is `otherwise` instead.
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

/** Makes the SQL of a JSON array, made of the SQL of its values. */
export function jsonArray(values: readonly Sql[]): Sql {
  return sql`json_array(${commaList(values)})`;
}

/**
 * Makes the SQL of how many bytes the texts, JSON and blobs in these columns have. Of values that are shortened only
 * the shown bytes count. SQLite knows the lengths without reading the values.
 */
export function storedBytes<C extends ShownColumn>(
  columns: readonly C[],
  refer: (column: C) => Sql,
  cutOf: CutOf<C> = uncut,
): Sql {
  const sizes = wideIn(columns).map(
    (column) => sql`ifnull(${cutOf(column)?.shownBytes ?? sql`octet_length(${refer(column)})`}, 0)`,
  );
  return sum(sizes);
}

/** The same where the object has more members than `json_object` takes, with two arguments each. */
function concatenatedObject<C extends ShownColumn>(columns: readonly C[], shownOf: (column: C) => Sql): Sql {
  const members = columns.map((column, i) => {
    const key = { text: `'${i === 0 ? "{" : ","}"${column.name}":'`, params: [] };
    return sql`(${key} || json_quote(${shownOf(column)}))`;
  });
  // json() marks the concatenated text as JSON. Without it, json_array would take the text for a string.
  return sql`json(${chain(members, sql` || `)} || '}')`;
}

/**
 * Makes the SQL of a column's value as `jsonObject` puts it into JSON. JSON has no infinities: they become null, those
 * in columns of type real only in `finishRows`. In a column of another type, which can hold one only if the database
 * stores values of any type in it, an infinity becomes null here, and an integer that no JavaScript number holds a text.
 * A blob in such a column, where the schema does not call it one, becomes a text as well (`blobsAsLiterals`).
 */
export function shownValue(column: ShownColumn, ref: Sql, physical: Pick<CatalogTable, "affinities"> | undefined): Sql {
  const stored = physical?.affinities.get(column.name);
  if (stored === undefined || column.type === "blob") return wireValue(column, ref);
  return blobsAsLiterals(ref, looseValue(column, ref, stored));
}

/** Makes the SQL of a value in which a blob is a text as SQL writes it: `x'00ff'`. Any other value is `otherwise`. */
export function blobsAsLiterals(ref: Sql, otherwise: Sql): Sql {
  return sql`CASE typeof(${ref}) WHEN 'blob' THEN 'x''' || lower(hex(${ref})) || '''' ELSE ${otherwise} END`;
}

function looseValue(column: ShownColumn, ref: Sql, stored: Affinity): Sql {
  const value = wireValue(column, ref);
  if (stored === "text" || column.type === "real") return value;
  const finite = sql`CASE WHEN typeof(${ref}) <> 'real' OR abs(${ref}) < 9e999 THEN ${value} END`;
  return column.type === "integer"
    ? finite
    : sql`CASE WHEN typeof(${ref}) = 'integer' AND NOT ${isSafe(ref)} THEN CAST(${ref} AS TEXT) ELSE ${finite} END`;
}

const isSafe = (ref: Sql) => sql`${ref} BETWEEN -9007199254740991 AND 9007199254740991`;

function wireValue(column: Pick<Column, "type">, ref: Sql): Sql {
  switch (column.type) {
    case "integer":
      return sql`CASE WHEN ${isSafe(ref)} THEN ${ref} ELSE CAST(${ref} AS TEXT) END`;
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

/**
 * Makes the SQL of a real in JSON: a number. A real that is extremely large or small becomes an array `[number,
 * exponent]`, which `realOf` turns back (`platform/real-scale.ts`).
 */
export function realJson(ref: Sql): Sql {
  const { number, exponent } = scaledSql(ref.text);
  const text = `CASE WHEN typeof(${ref.text}) <> 'real' THEN ${ref.text}
    WHEN ${isPlainSql(ref.text)} THEN json(printf('%!.17g', ${ref.text}))
    ELSE json_array(json(printf('%!.17g', ${number})), ${exponent}) END`;
  return { text, params: [] };
}

/**
 * Makes the SQL of a value in the key of a cursor, in JSON. Texts and NULL stand as they are. A value of another type
 * is an array with a letter for its type in SQLite: `["i", "12"]`, `["r", 1.5]`, `["b", "00ff"]`. The type is kept
 * because the order of values depends on it, and is asked for only where the column can hold values of several types.
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

/** Turns a value of a cursor's key that `keyValue` wrote, after JSON.parse, back into the value in the database. */
export function storedOf(value: unknown): SqlValue {
  if (!Array.isArray(value)) return value as string | null;
  const [kind, content, exponent] = value;
  if (kind === "i") return BigInt(content as string);
  if (kind === "b") return fromHex(content as string);
  return (exponent === undefined ? realOf(content) : realOf([content, exponent])) as number;
}

/** Turns a real that `realJson` wrote, after JSON.parse, back into a number. Other values are returned unchanged. */
export function realOf(value: unknown): unknown {
  return Array.isArray(value) ? unscaled(value[0] as number, value[1] as number) : value;
}
