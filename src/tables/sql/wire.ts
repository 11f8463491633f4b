import type { Column } from "../../project/model.js";
import { chain, comma, join, type Sql, sql, sum, textLiteral } from "./fragment.js";

/**
 * JSON text made by SQLite (interface, section 3: column types and their JSON). Reals carry 17 digits and blobs are
 * hexadecimal; `finishRows` gives both their final form.
 */
export function jsonObject(columns: readonly Column[], refer: (column: Column) => Sql): Sql {
  if (columns.length > jsonObjectPairsMax) return concatenatedObject(columns, refer);
  const pairs = columns.flatMap((column) => [textLiteral(column.name), wireValue(column, refer(column))]);
  return sql`json_object(${join(pairs, comma)})`;
}

export function jsonArray(values: readonly Sql[]): Sql {
  return sql`json_array(${join(values, comma)})`;
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
  return sql`(${chain(members, sql` || `)} || '}')`;
}

export function wireValue(column: Pick<Column, "type">, ref: Sql): Sql {
  switch (column.type) {
    case "integer":
      return sql`CASE WHEN ${ref} BETWEEN -9007199254740991 AND 9007199254740991 THEN ${ref} ELSE CAST(${ref} AS TEXT) END`;
    case "real":
      return sql`CASE WHEN typeof(${ref}) = 'real' THEN json(printf('%!.17g', ${ref})) ELSE ${ref} END`;
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
