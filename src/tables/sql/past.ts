import type { LoggedTable } from "../../changes/image.js";
import type { Column } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import type { Access } from "../access.js";
import { type AsOf, asOf, asShownOf, hasKey, imageColumns, key, keyColumn, text } from "./as-of.js";
import { and, commaList, empty, integer, name, param, type Slot, type Sql, sql } from "./fragment.js";
import { existsSql, namesOf, predicate, type SqlNames } from "./predicate.js";
import { jsonWithin, storedBytes } from "./wire.js";

/** What a statement about rows of the past shows, and of which rows. */
export interface Past {
  readonly access: Access;
  readonly logged: LoggedTable;
  /** What has to be TRUE of a version of a row and of the row as it is now, or was last. */
  readonly rule: Expression;
  /** Further conditions on the version. */
  readonly filters: readonly Expression[];
  readonly output: readonly Column[];
  readonly limit: number;
  /** How many rows or entries are examined at most. */
  readonly scanLimit: number;
}

/**
 * The rows of a table as they were at a moment, in the order of their key, and at most so many: `_pk` and the columns.
 * `after` is the text of a key, before which rows are left out.
 */
export function rowsAsOf(at: AsOf, table: LoggedTable, after: Slot | null, limit: number): Sql {
  const columns = (alias: Sql) =>
    commaList(table.columns.map((column) => sql`${alias}.${name(column.name)}`));
  const keyOf = (alias: Sql) => commaList(table.key.map((column) => sql`${alias}.${name(column.name)}`));
  const place = commaList(table.key.map((_, i) => keyColumn(table, i, sql`_s.pk`)));
  const behind = (alias: Sql) => (after === null ? [] : [sql`(${keyOf(alias)}) > (${place})`]);
  const begin = after === null ? empty : sql`(SELECT ${param(after)} AS pk) AS _s CROSS JOIN `;
  const t = sql`_t`;
  const i = sql`_i`;
  const most = integer(limit);
  const ordered = (pk: Sql, alias: Sql, from: Sql, where: Sql) =>
    sql`SELECT * FROM (SELECT ${pk} AS _pk, ${columns(alias)} FROM ${begin}${from} AS ${alias} WHERE ${where} ORDER BY ${keyOf(alias)} LIMIT ${most})`;
  const unchanged = and([...behind(t), at.isUnchanged(table.table, t)]);
  const changed = and(behind(i));
  return sql`SELECT * FROM (${ordered(key(table, t), t, name(table.table), unchanged)} UNION ALL ${ordered(sql`_i._pk`, i, at.images(table.table), changed)}) AS _u ORDER BY ${keyOf(sql`_u`)} LIMIT ${most}`;
}

/**
 * A page of a table as it was. A row has the text of its key and itself in JSON, NULL where it is too large for an
 * answer. After them comes one with the text of the key that was examined last, NULL, how many rows were examined, and
 * how many of these may be shown, up to one more than the limit; none comes where none was examined.
 */
export function stateStatement(past: Past, at: Sql, after: Slot | null): Sql {
  const { access, logged, output, limit, scanLimit } = past;
  const { table, catalog } = access;
  const moment = asOf(at, "h", [logged], catalog);
  const refer = ({ name: column }: Column) => sql`_r.${name(column)}`;
  const order = commaList(logged.key.map((column) => sql`_r.${name(column.name)}`));
  const last = commaList(logged.key.map((column) => sql`_r.${name(column.name)} DESC`));
  const passing = sql`SELECT _r._pk AS pk, ${jsonWithin(catalog, table, output, refer, sql`NULL`)} AS row, sum(${storedBytes(output, refer)}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER (ORDER BY ${order}) AS n FROM _w AS _r WHERE ${shownVersion(past)} ORDER BY ${order} LIMIT ${integer(limit + 1)}`;
  const ctes = [
    ...moment.ctes,
    sql`_w AS MATERIALIZED (${rowsAsOf(moment, logged, after, scanLimit)})`,
    sql`_p AS MATERIALIZED (${passing})`,
  ];
  const counts = sql`(SELECT count(*) FROM _w), (SELECT count(*) FROM _p)`;
  return sql`WITH ${commaList(ctes)} SELECT pk, row, NULL AS examined, NULL AS passed FROM _p WHERE n <= ${integer(limit)} AND (n = 1 OR bytes <= ${integer(catalog.answerBytesMax)}) UNION ALL SELECT * FROM (SELECT _r._pk, NULL, ${counts} FROM _w AS _r ORDER BY ${last} LIMIT 1)`;
}

/**
 * Whether the caller may see the version `_r` of a row: the rule is TRUE of it and of the row as it is now, or of a
 * deleted row as it was last, with the relations of now.
 */
function shownVersion({ access, logged, rule, filters }: Past): Sql {
  const { table, catalog } = access;
  const physical = catalog.tables.get(table.name);
  const namesFor = (alias: Sql): SqlNames => {
    const names: SqlNames = {
      ...namesOf(physical),
      row: (column) => sql`${alias}.${name(column)}`,
      exists: (node) => existsSql(node, names),
    };
    return names;
  };
  const ofImage = (term: Expression, alias: Sql) =>
    predicate(asShownOf(term, "row", physical), namesFor(alias));
  const asked = filters.map((filter) => ofImage(filter, sql`_r`));
  if (alwaysTrue(rule)) return and(asked);
  const now = sql`SELECT (${predicate(rule, namesFor(sql`_t`))}) IS TRUE FROM ${name(table.name)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_r._pk`)}`;
  const image = sql`SELECT old FROM _changes WHERE tbl = ${text(table.name)} AND pk = _r._pk AND old IS NOT NULL ORDER BY seq DESC LIMIT 1`;
  const lastly = sql`SELECT (${ofImage(rule, sql`_n`)}) IS TRUE FROM (SELECT ${imageColumns(logged.columns, sql`_l.old`)} FROM (${image}) AS _l) AS _n`;
  return and([...asked, ofImage(rule, sql`_r`), sql`coalesce((${now}), (${lastly}), 0)`]);
}
