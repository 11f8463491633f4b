import { toHex } from "../../encoding/hex.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainReal, realText, unscaledSql } from "../../platform/real-scale.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Counted } from "../plan/plan-check.js";
import { carried, commaList, integer, name, param, Slot, type Sql, sql } from "../sql-text/fragment.js";
import { guardOf, partsOf } from "./guard.js";
import { collated, defaultOf } from "./judged-row.js";
import type { AnswerSource } from "./kept-answers.js";
import { namesOf, type SqlNames } from "./predicate.js";
import { type Returned, returningOf } from "./returning.js";
import { keyJson } from "./row-key.js";
import { aborting } from "./write-statement.js";

/** A statement that creates several rows, whose values are a JSON array in the slot `rows` (`rowsText`). */
export interface BulkStatement extends Counted<Sql> {
  /** A SELECT before the statement of how many rows the rule's `exists` look up; null where it has none. */
  readonly probes: Sql | null;
  /**
   * The SELECT that is run right after this statement and undoes the batch where not as many rows were created as the
   * slot `count` says. The reason in its error is the slot `abort`, followed by `i:denied` for the first row `i` that
   * the rule denies; where the rule denies none, by `0:ignored`, because then a trigger has prevented a row.
   */
  readonly guard: Sql;
  /** How the answer finds the created rows; null where they cannot be found again. */
  readonly answer: AnswerSource | null;
}

/**
 * Makes the statement that creates rows in the order of an array, each if the rule is TRUE for it. Only for rules whose
 * outcome no row of the array can change, and for rows that give the same columns.
 */
export function bulkInsertStatement(
  table: Table,
  given: readonly Column[],
  scaled: ReadonlySet<string>,
  rule: Expression,
  returned: Returned,
  catalog: Catalog,
): BulkStatement {
  const physical = catalog.tables.get(table.name)!;
  const returning = returningOf(table, returned, catalog);
  const target = name(table.name);
  const isGiven = (column: Column) => given.includes(column);
  const read = [...columnsOf(rule, "new")].map((column) => table.columns.get(column)!);
  const columns = [...new Set([...given, ...read])];
  const values = columns.map((column) => {
    const value = isGiven(column) ? element(column, given.indexOf(column), scaled) : defaultOf(column);
    return sql`${value} AS ${carried(column.name)}`;
  });
  const rows = sql`WITH _n AS MATERIALIZED (SELECT key AS _i, ${commaList(values)} FROM json_each(${param(new Slot("rows"))}))`;
  const next: SqlNames["next"] = (column) => collated(sql`_n.${carried(column)}`, column, physical);
  const guard = guardOf(partsOf(rule, { ...namesOf(physical), next }), catalog);
  const columnList = commaList(columns.map((column) => name(column.name)));
  const probes = guard.measuredAll(rows, sql`_n`);
  const denied = sql`${rows} SELECT min(_i) || ':denied' FROM _n WHERE (${guard.condition}) IS NOT TRUE`;
  const reason = alwaysTrue(rule) ? sql`'0:ignored'` : sql`ifnull((${denied}), '0:ignored')`;
  // The created rows get numbers without gaps, so that the answer can find them, unless triggers add rows to the same
  // table between them.
  const isNumbered =
    physical.rowid !== null &&
    !physical.triggers.insert.run &&
    !columns.some((column) => column.name === physical.rowid);
  const last = sql`last_insert_rowid()`;
  return {
    statement: sql`${rows} INSERT OR ABORT INTO ${target} (${columnList}) SELECT ${commaList(columns.map((column) => carried(column.name)))} FROM _n WHERE ${guard.condition} ORDER BY _i RETURNING ${returning.row} AS row`,
    probes,
    guard: sql`SELECT CASE WHEN changes() = ${param(new Slot("count"))} THEN 1 ELSE ${aborting(reason)} END AS held`,
    // The created rows are found by their rowids: SQLite numbers the rows of one statement one after the other.
    answer: isNumbered
      ? {
          row: returning.row,
          key: keyJson(table, catalog),
          from: sql`FROM ${target} WHERE ${target}.${name(physical.rowid!)} BETWEEN ${last} - ${param(new Slot("count"))} + 1 AND ${last}`,
          readable: sql`0`,
          isNew: sql`1`,
        }
      : null,
    asked: probes,
    exact: guard.exact && returning.exact,
    seeks: [...guard.seeks, ...returning.seeks],
  };
}

/** The SQL that reads the value of a column from `value`, the JSON array of a row. */
function element({ type, name: column }: Column, index: number, scaled: ReadonlySet<string>): Sql {
  const at = sql`value ->> ${integer(index)}`;
  if (type === "blob") return sql`unhex(${at})`;
  if (!scaled.has(column)) return at;
  const part = (i: number) => `json_extract(value, '$[${index}][${i}]')`;
  const exact: Sql = { text: unscaledSql(part(0), part(1)), params: [] };
  const isScaled: Sql = { text: `json_type(value, '$[${index}]') = 'array'`, params: [] };
  return sql`iif(${isScaled}, ${exact}, ${at})`;
}

/** The columns of type real in which one of the rows has a number that is sent in two parts (`realText`). */
export function scaledIn(rows: readonly ReadonlyMap<string, SqlValue>[]): ReadonlySet<string> {
  const isScaled = (value: SqlValue) => typeof value === "number" && !isPlainReal(value);
  return new Set(rows.flatMap((row) => [...row].flatMap(([column, value]) => (isScaled(value) ? [column] : []))));
}

/** The rows as a JSON array of arrays, each with the values of these columns. */
export function rowsText(rows: readonly ReadonlyMap<string, SqlValue>[], columns: readonly Column[]): string {
  const texts = rows.map((row) => `[${columns.map((column) => valueText(row.get(column.name)!)).join()}]`);
  return `[${texts.join()}]`;
}

function valueText(value: SqlValue): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return realText(value);
  return JSON.stringify(value instanceof Uint8Array ? toHex(value) : value);
}
