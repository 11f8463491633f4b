import type { Column } from "../../project/model.js";
import { type ListPlan, wideIn } from "../plan/list-plan.js";
import { carried, commaList, integer, type Sql, sql } from "../sql-text/fragment.js";
import { distinct } from "./candidates.js";
import { blobsAsLiterals, type Cut, type CutOf, jsonObject, type ShownColumn } from "./wire.js";

/**
 * Makes a function that gives, for a column, the SQL by which values of more than `bytesMax` bytes are shown by their
 * beginning. Undefined where `bytesMax` is null, so that every value is shown whole.
 */
export function cutAt<C extends ShownColumn>(bytesMax: number | null, refer: (column: C) => Sql): CutOf<C> | undefined {
  return bytesMax === null ? undefined : (column) => cutOf(column, refer(column), bytesMax);
}

function cutOf(column: ShownColumn, ref: Sql, bytesMax: number): Cut | null {
  if (wideIn([column]).length === 0) return null;
  const bytes = sql`octet_length(${ref})`;
  return {
    bytes,
    isLong: sql`${bytes} > ${integer(bytesMax)}`,
    beginning:
      column.type === "blob"
        ? firstBytes(ref, bytesMax)
        : blobsAsLiterals(sql`substr(${ref}, 1, ${integer(bytesMax >> 1)})`, firstCharacters(ref, bytesMax)),
    shownBytes: sql`min(${bytes}, ${integer(bytesMax)})`,
  };
}

/**
 * Makes the SQL of the first bytes of a blob in hexadecimal: as many as make `bytesMax` characters of base64 at most,
 * the form in which they are answered.
 */
function firstBytes(ref: Sql, bytesMax: number): Sql {
  return sql`hex(substr(CAST(${ref} AS BLOB), 1, ${integer(3 * Math.floor(bytesMax / 4))}))`;
}

/** Makes the SQL of the first characters of a text: as many whole ones as fit into `bytesMax` bytes of UTF-8. */
function firstCharacters(ref: Sql, bytesMax: number): Sql {
  const max = integer(bytesMax);
  const characters = sql`substr(CAST(${ref} AS TEXT), 1, ${max})`;
  const bytes = sql`CAST(${characters} AS BLOB)`;
  // Whether the limit falls inside of a character: then the byte after the limit is a second or later byte of that
  // character, 80 to BF (RFC 3629, section 3), and the character is left out.
  const isCut = sql`(hex(substr(${bytes}, ${integer(bytesMax + 1)}, 1)) BETWEEN '80' AND 'BF')`;
  return sql`substr(${characters}, 1, length(CAST(substr(${bytes}, 1, ${max}) AS TEXT)) - ${isCut})`;
}

/**
 * Makes a SELECT of a page whose rows are JSON already, in the column `_row`, in which long values are shortened, so
 * that SQLite passes no long value on. `needed` are columns that the statement needs besides.
 */
export function previewedPage(page: Sql, needed: readonly Sql[], { table, output, preview, catalog }: ListPlan): Sql {
  const refer = ({ name: column }: Column) => sql`_q.${carried(column)}`;
  const row = jsonObject(output, refer, catalog.tables.get(table.name), cutAt(preview, refer));
  const list = [...distinct(needed).map((column) => sql`_q.${column} AS ${column}`), sql`${row} AS _row`];
  // With a WHERE, SQLite does not merge (flatten) the page into this SELECT, so that each value is read once.
  return sql`SELECT ${commaList(list)} FROM (${page}) AS _q WHERE 1`;
}
