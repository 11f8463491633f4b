import type { Column } from "../../project/model.js";
import type { ListPlan } from "../list/list-plan.js";
import { distinct } from "./candidates.js";
import { commaList, integer, name, type Sql, sql } from "./fragment.js";
import { type Cut, type CutOf, jsonObject, type ShownColumn } from "./wire.js";

/** Whether values of a column may be so long that they are shown by their beginning. */
function mayBeLong({ type }: Pick<Column, "type">): boolean {
  return type === "text" || type === "json" || type === "blob";
}

/** The beginnings of values of more than `bytesMax` bytes; null where every value is shown whole. */
export function cutAt<C extends ShownColumn>(
  bytesMax: number | null,
  refer: (column: C) => Sql,
): CutOf<C> | undefined {
  return bytesMax === null ? undefined : (column) => cutOf(column, refer(column), bytesMax);
}

function cutOf(column: ShownColumn, ref: Sql, bytesMax: number): Cut | null {
  if (!mayBeLong(column)) return null;
  const bytes = sql`octet_length(${ref})`;
  return {
    bytes,
    isLong: sql`${bytes} > ${integer(bytesMax)}`,
    beginning: column.type === "blob" ? firstBytes(ref, bytesMax) : firstCharacters(ref, bytesMax),
    shownBytes: sql`min(${bytes}, ${integer(bytesMax)})`,
  };
}

/** The first bytes of a blob, whose base64 has at most `bytesMax` characters, in hexadecimal. */
function firstBytes(ref: Sql, bytesMax: number): Sql {
  return sql`hex(substr(CAST(${ref} AS BLOB), 1, ${integer(3 * Math.floor(bytesMax / 4))}))`;
}

/** As many whole characters of a text as `bytesMax` bytes hold. */
function firstCharacters(ref: Sql, bytesMax: number): Sql {
  const max = integer(bytesMax);
  const characters = sql`substr(CAST(${ref} AS TEXT), 1, ${max})`;
  const bytes = sql`CAST(${characters} AS BLOB)`;
  // Behind a character that is cut, its second byte or a later one comes next (RFC 3629, section 3).
  const isCut = sql`(hex(substr(${bytes}, ${integer(bytesMax + 1)}, 1)) BETWEEN '80' AND 'BF')`;
  return sql`substr(${characters}, 1, length(CAST(substr(${bytes}, 1, ${max}) AS TEXT)) - ${isCut})`;
}

/**
 * The SELECT of a page whose rows are written out already, as `_row`: their long values do not get further. `needed` are the
 * columns that the statement needs besides.
 */
export function previewedPage(
  page: Sql,
  needed: readonly Sql[],
  { table, output, preview, catalog }: ListPlan,
): Sql {
  const refer = ({ name: column }: Column) => sql`_q.${name(column)}`;
  const row = jsonObject(output, refer, catalog.tables.get(table.name), cutAt(preview, refer));
  const list = [...distinct(needed).map((column) => sql`_q.${column} AS ${column}`), sql`${row} AS _row`];
  // With a WHERE, SQLite does not flatten the page into this SELECT: each value is then read once.
  return sql`SELECT ${commaList(list)} FROM (${page}) AS _q WHERE 1`;
}
