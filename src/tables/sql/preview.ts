import type { Column } from "../../project/model.js";
import type { ListPlan } from "../list/list-plan.js";
import { commaList, integer, internalName, name, type Sql, sql } from "./fragment.js";
import type { Cut, CutOf, ShownColumn } from "./wire.js";

/** Whether values of a column may be so long that they are shown by their beginning. */
export function mayBeLong({ type }: Pick<Column, "type">): boolean {
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
  const max = integer(bytesMax);
  const whenLong = (shown: Sql) => sql`CASE WHEN octet_length(${ref}) > ${max} THEN ${shown} END`;
  const beginning = column.type === "blob" ? firstBytes(ref, bytesMax) : firstCharacters(ref, bytesMax);
  return { bytes: whenLong(sql`octet_length(${ref})`), beginning: whenLong(beginning) };
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
 * The SELECT of a page with the beginnings of its long values beside them (`pageCut`), and without these values unless the
 * columns of `whole` need them.
 */
export function cutPage(
  page: Sql,
  columns: readonly Sql[],
  whole: readonly Sql[],
  { output, preview }: ListPlan,
): Sql {
  const cut = cutAt<Column>(preview, ({ name: column }) => sql`_q.${name(column)}`)!;
  const cuts = output.flatMap((column, i) => {
    const parts = cut(column);
    return parts === null ? [] : [{ column, i, parts }];
  });
  const isLong = (column: Sql) => cuts.some((each) => name(each.column.name).text === column.text);
  const isWhole = (column: Sql) => !isLong(column) || whole.some(({ text }) => text === column.text);
  const list = [
    ...columns.map((column) => {
      const value = sql`_q.${column}`;
      const shown = isWhole(column)
        ? value
        : sql`CASE WHEN octet_length(${value}) <= ${integer(preview!)} THEN ${value} END`;
      return sql`${shown} AS ${column}`;
    }),
    ...cuts.flatMap(({ i, parts }) => [
      sql`${parts.bytes} AS ${internalName("n", i)}`,
      sql`${parts.beginning} AS ${internalName("a", i)}`,
    ]),
  ];
  // With a WHERE, SQLite does not flatten the page into this SELECT: each value is then read once.
  return sql`SELECT ${commaList(list)} FROM (${page}) AS _q WHERE 1`;
}

/** The beginnings of long values in the rows of `_page`, which `cutPage` has made; null without previews. */
export function pageCut({ output, preview }: ListPlan): CutOf<Column> | undefined {
  if (preview === null) return undefined;
  return (column) => {
    const i = output.indexOf(column);
    return mayBeLong(column)
      ? { bytes: sql`_page.${internalName("n", i)}`, beginning: sql`_page.${internalName("a", i)}` }
      : null;
  };
}
