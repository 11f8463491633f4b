import type { SqlValue } from "../platform/database.js";
import { isPlainSql, scaledSql, unscaledSql } from "../platform/real-scale.js";
import type { ColumnType } from "../sqlite/column-type.js";
import type { ColumnName, TableName } from "../sqlite/names.js";
import { quoteName, quoteText } from "../sqlite/sql-tokens.js";

/**
 * What the log of changes has to know of a column to write its value into an image (the JSON of a row in the log) and
 * to read it back. `holds` says which values there are besides NULL. `plain`: only texts and integers, which JSON holds
 * as they are. `real` and `blob`: only values of that type. `any`: values of any type.
 */
export interface LoggedColumn {
  readonly name: ColumnName;
  readonly holds: "plain" | "real" | "blob" | "any";
  /** Null for BINARY. */
  readonly collation: string | null;
}

/** A table as the log of changes knows it. `key`: the columns of its primary key. */
export interface LoggedTable {
  readonly table: TableName;
  readonly columns: readonly LoggedColumn[];
  readonly key: readonly LoggedColumn[];
}

/** How many pairs of a name and a value one call of a JSON function takes. D1 allows a function 32 arguments. */
const pairsMax = 15;

/** The pairs of each call of a JSON function. */
function inCalls<T>(pairs: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(pairs.length / pairsMax) }, (_, i) =>
    pairs.slice(i * pairsMax, (i + 1) * pairsMax),
  );
}

/**
 * SQL that makes the image of a row: a JSON object of its columns. A BLOB becomes `{"$b": "00ff"}`, because JSON
 * functions take some BLOBs for JSON in SQLite's own format (https://sqlite.org/json1.html#jsonb). A real is written
 * with 17 digits, because SQLite itself would write 15; one of an extreme size becomes `[number, exponent]`
 * (`platform/real-scale.ts`).
 */
export function imageSql(columns: readonly LoggedColumn[], of: string): string {
  return inCalls(columns).reduce((image, chunk, i) => {
    const name = (column: string) => (i === 0 ? quoteText(column) : pathOf(column));
    const pairs = chunk.map((column) => `${name(column.name)}, ${written(column, of)}`).join(", ");
    return i === 0 ? `json_object(${pairs})` : `json_set(${image}, ${pairs})`;
  }, "");
}

/**
 * SQL for an image with the columns that it lacks, because the table got them later, as another image has them. Where
 * `image` is NULL, the result is NULL.
 */
export function completedSql(columns: readonly LoggedColumn[], image: string, other: string): string {
  const paths = columns.map(({ name }) => pathOf(name));
  // D1 allows an expression a depth of 100, which one condition for each column could exceed.
  const lacks = `(SELECT count(*) FROM json_each(${image})) < ${columns.length}`;
  const completed = inCalls(paths).reduce(
    (made, chunk) => `json_insert(${made}, ${chunk.map((path) => `${path}, ${other} -> ${path}`).join(", ")})`,
    image,
  );
  return `CASE WHEN ${lacks} THEN ${completed} ELSE ${image} END`;
}

/**
 * SQL that makes a text of a row's primary key: a JSON array of the values, each written as in an image. Equal texts
 * mean the same key.
 */
export function keySql(key: readonly LoggedColumn[], of: string): string {
  return `json_array(${key.map((column) => written(column, of)).join(", ")})`;
}

/**
 * Estimates how many bytes values take in an image, without the names of their columns. A BLOB takes two bytes for each
 * of its own, and a text counts with its quotes and escapes.
 */
export function imageBytes(values: Iterable<SqlValue>): number {
  let bytes = 0;
  for (const value of values) {
    if (value instanceof Uint8Array) bytes += value.length * 2 + blobFrameBytes;
    else if (typeof value === "string") bytes += utf8Bytes(JSON.stringify(value));
    else bytes += numberBytesMax;
  }
  return bytes;
}

const blobFrameBytes = '{"$b":""}'.length;
/** The most bytes that a number takes in JSON: a real with 17 digits, its sign, its point and its exponent. */
const numberBytesMax = 24;

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function written({ name, holds }: LoggedColumn, of: string): string {
  const ref = `${of}.${quoteName(name)}`;
  const blob = `json_object('$b', hex(${ref}))`;
  switch (holds) {
    case "plain":
      return ref;
    case "real":
      return `CASE WHEN ${ref} IS NOT NULL THEN ${realOf(ref)} END`;
    case "blob":
      return `CASE WHEN ${ref} IS NOT NULL THEN ${blob} END`;
    case "any":
      return `CASE typeof(${ref}) WHEN 'blob' THEN ${blob} WHEN 'real' THEN ${realOf(ref)} ELSE ${ref} END`;
  }
}

function realOf(ref: string): string {
  const { number, exponent } = scaledSql(ref);
  const digits = (value: string) => `json(printf('%!.17g', ${value}))`;
  return `CASE WHEN ${isPlainSql(ref)} THEN ${digits(ref)} WHEN abs(${ref}) = 9e999 THEN json_array(CASE WHEN ${ref} > 0 THEN 1 ELSE -1 END, 1024) ELSE json_array(${digits(number)}, ${exponent}) END`;
}

/**
 * SQL for the value of a column, read from an image. The expression has no type affinity, so the value has the type
 * that it had in the table.
 */
export function fromImage({ name, holds }: Omit<LoggedColumn, "collation">, image: string): string {
  return read(holds, image, pathOf(name).slice(1, -1));
}

/** SQL for one column of a primary key, read from the key's text (`keySql`). `at` is its place in the key, from 0. */
export function fromKey({ holds }: Pick<LoggedColumn, "holds">, key: string, at: number): string {
  return read(holds, key, `$[${at}]`);
}

function read(holds: LoggedColumn["holds"], json: string, path: string): string {
  const at = (inner = "") => `(${json} ->> '${path}${inner}')`;
  const blob = `unhex(${at('."$b"')})`;
  const real = `CASE ${at("[1]")} WHEN 1024 THEN ${at("[0]")} * 9e999 ELSE ${unscaledSql(at("[0]"), at("[1]"))} END`;
  const type = `json_type(${json}, '${path}')`;
  switch (holds) {
    case "plain":
      return at();
    case "blob":
      // A text is from before a change of the column's type.
      return `CASE ${type} WHEN 'object' THEN ${blob} ELSE CAST(${at()} AS BLOB) END`;
    case "real":
      return `CASE ${type} WHEN 'array' THEN ${real} ELSE ${at()} END`;
    case "any":
      return `CASE ${type} WHEN 'object' THEN ${blob} WHEN 'array' THEN ${real} ELSE ${at()} END`;
  }
}

/**
 * The JSON path of a column in an image, as a quoted text of SQL. Names of columns contain no double quote, so no
 * escapes are needed.
 */
export function pathOf(column: string): string {
  return quoteText(`$."${column}"`);
}

/**
 * Which values the log has to expect in a column. `isAny`: whether the database lets the column hold values of any
 * type.
 */
export function holdsOf(type: ColumnType, isAny: boolean): LoggedColumn["holds"] {
  if (isAny) return "any";
  return type === "real" || type === "blob" ? type : "plain";
}
