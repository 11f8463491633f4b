import { isPlainSql, scaledSql, unscaled } from "../../platform/real-scale.js";
import type { Column } from "../../project/model.js";
import { chain, commaList, type Sql, sql, sum, textLiteral } from "./fragment.js";

/**
 * JSON text made by SQLite (interface, section 3: column types and their JSON). Reals carry 17 digits and blobs are
 * hexadecimal; `finishRows` gives both their final form.
 */
export function jsonObject(columns: readonly Column[], refer: (column: Column) => Sql): Sql {
  if (columns.length > jsonObjectPairsMax) return concatenatedObject(columns, refer);
  const pairs = columns.flatMap((column) => [textLiteral(column.name), wireValue(column, refer(column))]);
  return sql`json_object(${commaList(pairs)})`;
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

function concatenatedObject(columns: readonly Column[], refer: (column: Column) => Sql): Sql {
  const members = columns.map((column, i) => {
    const key = { text: `'${i === 0 ? "{" : ","}"${column.name}":'`, params: [] };
    return sql`(${key} || json_quote(${wireValue(column, refer(column))}))`;
  });
  // As JSON, or an array would hold it as a string.
  return sql`json(${chain(members, sql` || `)} || '}')`;
}

export function wireValue(column: Pick<Column, "type">, ref: Sql): Sql {
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

/** A real of `wireValue` as it was stored. */
export function realOf(value: unknown): unknown {
  return Array.isArray(value) ? unscaled(value[0] as number, value[1] as number) : value;
}
