import type { LoggedTable } from "../../changes/image.js";
import type { Statement } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue, whenTrue } from "../../rules/fold.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Access } from "../access/access.js";
import {
  and,
  bind,
  carried,
  carriedIn,
  columnsIn,
  columnsOut,
  commaList,
  empty,
  integer,
  name,
  param,
  type Slot,
  type SlotValues,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import {
  type AsOf,
  asOf,
  asShownOf,
  completed,
  hasKey,
  image,
  imageColumn,
  imageColumns,
  isInPage,
  key,
  keyColumn,
  keyObject,
  keyText,
  tableLiteral,
  withinBytes,
} from "./as-of.js";
import { loggedTable } from "./logged.js";
import { existsSql, namesOf, predicate, type SqlNames } from "./predicate.js";
import { cutAt } from "./preview.js";
import { jsonObject, jsonWithin, storedBytes } from "./wire.js";

/** What a statement about past versions of a table's rows shows, and which rows it is about. */
export interface Past {
  readonly access: Access;
  readonly logged: LoggedTable;
  /**
   * The rule for the past. A version of a row is shown only if the rule is TRUE of that version, and of the row as it
   * is now, or of a deleted row as it was last.
   */
  readonly rule: Expression;
  /** Further conditions, the request's filters, that a version of a row has to pass. */
  readonly filters: readonly Expression[];
  readonly output: readonly Column[];
  /** Values of more than this many bytes are shown by their beginnings; null where all values are shown whole. */
  readonly preview: number | null;
  readonly limit: number;
  /** How many rows (for a state) or entries of the log (for a history) are examined at most. */
  readonly scanLimit: number;
}

/**
 * Makes the `Past` of a table for a caller. A version of a row is shown if both the rule for the history and the one for
 * reading are TRUE of it.
 */
export function pastOf(access: Access, limit: number, scanLimit: number, more: Partial<Past> = {}): Past {
  const { table, catalog, readable, preview, rule, readRule } = access;
  return {
    access,
    logged: loggedTable(table, catalog.tables.get(table.name)!),
    rule: whenTrue({ kind: "and", terms: [rule, readRule] }),
    filters: [],
    output: [...readable.values()],
    preview,
    limit,
    scanLimit,
    ...more,
  };
}

/**
 * Makes a SELECT of the keys of a table's rows as they were at a moment, in the order of the primary key, `limit` at
 * most: `_pk`, the key as the log writes it, and its columns; how many `bytes` the row has; and as `seq` the entry of
 * the log that has the row's image, NULL where the table has the row as it was. `after` is the slot for a key, and the
 * keys are those that come after it; where `after` is null, they are the first ones of the table. Rows with NULL in
 * their key are left out: the log cannot tell them from each other.
 */
export function keysAsOf(at: AsOf, table: Table, logged: LoggedTable, after: Slot | null, limit: number): Sql {
  const place = commaList(logged.key.map((_, i) => keyColumn(logged, i, sql`_s.pk`)));
  const behind = (key: Sql, alias: Sql, called: (column: ColumnName) => Sql) => [
    ...(after === null ? [] : [sql`(${key}) > (${place})`]),
    ...logged.key.map((column) => sql`${alias}.${called(column.name)} IS NOT NULL`),
  ];
  const begin = after === null ? empty : sql`(SELECT ${param(after)} AS pk) AS _s CROSS JOIN `;
  const t = sql`_t`;
  const i = sql`_i`;
  const most = integer(limit);
  const keyOfTable = columnsIn(t, logged.key);
  const keyOfImage = carriedIn(i, logged.key);
  const ordered = (columns: Sql, from: Sql, where: Sql, order: Sql) =>
    sql`SELECT * FROM (SELECT ${columns} FROM ${begin}${from} WHERE ${where} ORDER BY ${order} LIMIT ${most})`;
  const bytes = storedBytes([...table.columns.values()], ({ name: column }) => sql`_t.${name(column)}`);
  const unchanged = and([...behind(keyOfTable, t, name), at.isUnchanged(logged.table, t)]);
  const there = ordered(
    sql`${key(logged, t)} AS _pk, NULL AS seq, ${bytes} AS bytes, ${columnsOut(t, logged.key)}`,
    sql`${name(logged.table)} AS ${t}`,
    unchanged,
    keyOfTable,
  );
  const changed = ordered(
    sql`_i._pk, _i.seq, _i.bytes, ${keyOfImage}`,
    sql`(${at.imageKeys(logged.table)}) AS ${i}`,
    and(behind(keyOfImage, i, carried)),
    keyOfImage,
  );
  return sql`SELECT * FROM (${there} UNION ALL ${changed}) AS _u ORDER BY ${carriedIn(sql`_u`, logged.key)} LIMIT ${most}`;
}

/** Makes a SELECT of the rows whose keys are in `_w` (`keysAsOf`): `_pk` and the table's columns. */
export function rowsAsOf(logged: LoggedTable): Sql {
  const there = sql`SELECT _w._pk AS _pk, ${columnsOut(sql`_t`, logged.columns)} FROM _w CROSS JOIN ${name(logged.table)} AS _t WHERE _w.seq IS NULL AND ${hasKey(logged, sql`_t`, sql`_w._pk`)}`;
  const changed = sql`SELECT _w._pk AS _pk, ${imageColumns(logged.columns, sql`_l.old`)} FROM _w CROSS JOIN _changes AS _l WHERE _l.seq = _w.seq`;
  return sql`${there} UNION ALL ${changed}`;
}

/**
 * Makes the statement for a page of a table as it was at a moment. For each row of the page it returns `[pk, row, NULL,
 * NULL, NULL]`: the key as the log writes it, and the row in JSON, NULL where it is too large for an answer. Then comes
 * one row `[pk, NULL, examined, passed, more]` with the key that was examined last, how many rows were examined, how
 * many of these may be shown, up to one more than the limit, and 1 where there are more to examine. This last row is
 * missing where no row was examined.
 */
export function stateStatement(past: Past, at: Sql, after: Slot | null): Sql {
  const { access, logged, output, preview, limit, scanLimit } = past;
  const { table, catalog } = access;
  const moment = asOf(at, "h", [logged], catalog);
  const refer = ({ name: column }: Column) => sql`_r.${carried(column)}`;
  const cut = cutAt(preview, refer);
  const order = carriedIn(sql`_r`, logged.key);
  const last = commaList(logged.key.map((column) => sql`${carried(column.name)} DESC`));
  const passing = sql`SELECT _r._pk AS pk, ${jsonWithin(catalog, table, output, refer, sql`NULL`, cut)} AS row, sum(${storedBytes(output, refer, cut)}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER (ORDER BY ${order}) AS n FROM (${rowsAsOf(logged)}) AS _r WHERE ${shownVersion(past)} ORDER BY ${order} LIMIT ${integer(limit + 1)}`;
  const keys = withinBytes(sql`*`, sql`_k`, carriedIn(sql`_k`, logged.key), 2 * catalog.pageBytesMax);
  const ctes = [
    ...moment.ctes,
    sql`_k AS MATERIALIZED (${keysAsOf(moment, table, logged, after, scanLimit)})`,
    sql`_w AS MATERIALIZED (${keys})`,
    sql`_p AS MATERIALIZED (${passing})`,
  ];
  const isMore = sql`(SELECT count(*) FROM _k) >= ${integer(scanLimit)} OR (SELECT count(*) FROM _k) > (SELECT count(*) FROM _w)`;
  const counts = sql`(SELECT count(*) FROM _w), (SELECT count(*) FROM _p), ${isMore}`;
  return sql`WITH ${commaList(ctes)} SELECT pk, row, NULL AS examined, NULL AS passed, NULL AS more FROM _p WHERE ${isInPage(limit, catalog.pageBytesMax)} UNION ALL SELECT * FROM (SELECT _pk, NULL, ${counts} FROM _w ORDER BY ${last} LIMIT 1)`;
}

/**
 * Makes the condition that the caller may see the version `_r` of a row: it passes the filters, and the rule is TRUE of
 * it and of the row as it is now, or of a deleted row as it was last. Each `exists` in the rule looks at its table as
 * it is now.
 */
function shownVersion({ access, logged, rule, filters }: Past): Sql {
  const { table, catalog } = access;
  const physical = catalog.tables.get(table.name);
  const namesFor = (alias: Sql, called = carried): SqlNames => {
    const names: SqlNames = {
      ...namesOf(physical),
      row: (column) => sql`${alias}.${called(column)}`,
      exists: (node) => existsSql(node, names),
    };
    return names;
  };
  const ofImage = (term: Expression, alias: Sql) => predicate(asShownOf(term, "row", physical), namesFor(alias));
  const asked = filters.map((filter) => ofImage(filter, sql`_r`));
  if (alwaysTrue(rule)) return and(asked);
  // Not IS TRUE: SQLite reads TRUE as a column where the table has one of that name.
  const now = sql`SELECT CASE WHEN ${predicate(rule, namesFor(sql`_t`, name))} THEN 1 ELSE 0 END FROM ${name(table.name)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_r._pk`)}`;
  const image = sql`SELECT old FROM _changes WHERE tbl = ${tableLiteral(table.name)} AND pk = _r._pk AND old IS NOT NULL ORDER BY seq DESC LIMIT 1`;
  const lastly = sql`SELECT (${ofImage(rule, sql`_n`)}) IS TRUE FROM (SELECT ${imageColumns(logged.columns, sql`_l.old`)} FROM (${image}) AS _l) AS _n`;
  return and([...asked, ofImage(rule, sql`_r`), sql`coalesce((${now}), (${lastly}), 0)`]);
}

/**
 * Makes the statement for a page of the versions of rows, one for each entry of the log after `since` and before
 * `before`, the newest first: of the row with the key `of`, or of all rows where it is null. A row of its result is
 * `[seq, at, kind, id, key, op, changed, row, NULL]`:
 *
 * - `seq`: the number of the entry, and `at`: its time in milliseconds;
 * - `kind` and `id`: who made the change, NULL where another program than the server did;
 * - `key`: the row's key in JSON, and `op`: `insert`, `update` or `delete`;
 * - `changed`: for an update the JSON array of those of the shown columns that it has changed, else NULL;
 * - `row`: the row after the change in JSON, with the columns that are shown, NULL after a deletion.
 *
 * At the end comes a row with the number of the entry that was examined last, in the place of `at` how many entries
 * were examined, in that of `kind` 1 where there are more to examine, and in the last column how many versions may be
 * shown, up to one more than the limit. It is missing where no entry was examined.
 */
export function versionsStatement(
  past: Past,
  since: number,
  before: number,
  of: (SlotValues & { keys(): Iterable<string> }) | null,
  values: SlotValues,
): Statement {
  const { access, logged, output, preview, limit, scanLimit } = past;
  const { table, catalog } = access;
  const physical = catalog.tables.get(table.name);
  const isTable = sql`tbl = ${tableLiteral(table.name)}`;
  const range = sql`seq > ${param(BigInt(since))} AND seq < ${param(BigInt(before))}`;
  const newest = sql`ORDER BY seq DESC LIMIT ${integer(scanLimit)}`;
  // For the versions of all rows, the entries of all tables are gone through in the order of their numbers, and those
  // of other tables are left out afterwards.
  const pk = keyText(logged);
  const entries =
    of === null
      ? sql`SELECT seq FROM _changes NOT INDEXED WHERE ${range} ${newest}`
      : sql`SELECT seq FROM _changes WHERE ${isTable} AND pk = ${pk} AND ${range} ${newest}`;
  const imageNow = sql`(SELECT ${image(logged, sql`_t`)} FROM ${name(table.name)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_l.pk`)})`;
  const nextOf = (value: Sql) =>
    sql`(SELECT ${value} FROM _changes AS _n WHERE _n.tbl = _l.tbl AND _n.pk = _l.pk AND _n.seq > _l.seq ORDER BY _n.seq LIMIT 1)`;
  const next = nextOf(sql`_n.old`);
  const stored = storedBytes([...table.columns.values()], ({ name: column }) => sql`_t.${name(column)}`);
  const bytesNow = sql`(SELECT ${stored} FROM ${name(table.name)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_l.pk`)})`;
  // Without the versions of other tables, which are not read.
  const bytes = sql`CASE WHEN ${isTable} THEN ifnull(octet_length(_l.old), 0) + coalesce(${nextOf(sql`octet_length(_n.old)`)}, ${bytesNow}, 0) ELSE 0 END`;
  const sized = sql`SELECT _l.seq AS seq, ${bytes} AS bytes FROM (${entries}) AS _q CROSS JOIN _changes AS _l WHERE _l.seq = _q.seq`;
  const after = sql`CASE _l.op WHEN 'delete' THEN NULL ELSE coalesce(${next}, ${imageNow}) END`;
  // An update has changed no column that the table got only after it.
  const old = sql`CASE WHEN _op = 'update' THEN ${completed(logged, sql`_old`, sql`_after`)} ELSE _old END`;
  const decoded = sql`SELECT _v._seq, _v._tx, _v._at, _v._pk, _v._op, _v._before, _v._after, ${imageColumns(logged.columns, sql`coalesce(_v._after, _v._before)`)} FROM _v WHERE coalesce(_v._after, _v._before) IS NOT NULL`;
  const referTo = (of: Sql) => (column: Column) =>
    imageColumn(logged.columns.find(({ name: its }) => its === column.name)!, of);
  const shownOf = (of: Sql) => sql`CASE WHEN ${of} IS NOT NULL THEN ${jsonObject(output, referTo(of), physical)} END`;
  const refer = ({ name: column }: Column) => sql`_r.${carried(column)}`;
  const cut = cutAt(preview, refer);
  // Two long values may have the same beginning. So what has changed is told by the whole rows, and the rows with
  // shortened values are made besides, as `cut`.
  const cutRow =
    cut === undefined
      ? empty
      : sql`, CASE WHEN _r._after IS NOT NULL THEN ${jsonObject(output, refer, physical, cut)} END AS cut`;
  // With a LIMIT, SQLite does not merge (flatten) this SELECT into the one around it, so that each value is read from
  // the row's stored JSON once.
  const decodedOnce = cut === undefined ? decoded : sql`${decoded} LIMIT -1`;
  const row = cut === undefined ? sql`row` : sql`cut`;
  const keyJson = keyObject(logged, output, sql`_r._pk`, physical);
  const by = (column: Sql) => sql`(SELECT ${column} FROM _transactions AS _b WHERE _b.id = _r._tx)`;
  const ctes = [
    sql`_z AS MATERIALIZED (${sized})`,
    sql`_e AS MATERIALIZED (${withinBytes(sql`seq`, sql`_z`, sql`seq DESC`, 2 * catalog.pageBytesMax)})`,
    sql`_o AS MATERIALIZED (SELECT _l.seq AS _seq, _l.tx AS _tx, _l.at AS _at, _l.pk AS _pk, _l.op AS _op, _l.old AS _old, ${after} AS _after FROM _e CROSS JOIN _changes AS _l WHERE _l.seq = _e.seq AND ${isTable})`,
    sql`_v AS MATERIALIZED (SELECT _seq, _tx, _at, _pk, _op, ${old} AS _before, _after FROM _o)`,
    sql`_s AS MATERIALIZED (SELECT _r._seq AS seq, ifnull(${by(sql`_b.at`)}, _r._at) AS at, ${by(sql`_b.principal_kind`)} AS kind, ${by(sql`_b.principal_id`)} AS id, ${keyJson} AS key, _r._op AS op, ${shownOf(sql`_r._before`)} AS before, ${shownOf(sql`_r._after`)} AS row${cutRow} FROM (${decodedOnce}) AS _r WHERE ${shownVersion(past)})`,
  ];
  // An update that has changed only columns which the caller may not see is left out of the page.
  const versions = sql`SELECT *, sum(ifnull(octet_length(${row}), 0)) OVER (ORDER BY seq DESC ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER (ORDER BY seq DESC) AS n FROM _s WHERE before IS NOT row ORDER BY seq DESC LIMIT ${integer(limit + 1)}`;
  const differs = sql`_c.value IS NOT json_extract(before, _c.fullkey) OR _c.type IS NOT json_type(before, _c.fullkey)`;
  const changed = sql`CASE op WHEN 'update' THEN (SELECT json_group_array(_c.key) FROM json_each(row) AS _c WHERE ${differs}) END`;
  const isMore = sql`examined < (SELECT count(*) FROM _z) OR examined >= ${integer(scanLimit)}`;
  const members = sql`seq, at, kind, id, key, op, ${changed}, ${row}`;
  const statement = sql`WITH ${commaList([...ctes, sql`_d AS MATERIALIZED (${versions})`])} SELECT ${members}, NULL AS told FROM _d WHERE ${isInPage(limit, catalog.pageBytesMax)} UNION ALL SELECT last, examined, ${isMore}, NULL, NULL, NULL, NULL, NULL, (SELECT count(*) FROM _d) FROM (SELECT min(seq) AS last, count(*) AS examined FROM _e) WHERE examined > 0`;
  return bind(statement, of === null ? [values] : [of, values]);
}

/**
 * Makes the statement of what the log says of the version of a row after an entry besides its values. Its result is one
 * row `[columns, deleted]`: the JSON array of the columns that the version has, NULL where it is the row as it is now; and
 * 1 where the row was deleted after the version, so that a row which has the key now is another one.
 */
export function versionFactsStatement({ access, logged }: Past, seq: number, of: SlotValues): Statement {
  const later = sql`FROM _changes WHERE tbl = ${tableLiteral(access.table.name)} AND pk = ${keyText(logged)} AND seq > ${param(BigInt(seq))}`;
  const columns = sql`(SELECT json_group_array(_j.key) FROM json_each(_v.old) AS _j)`;
  const next = sql`(SELECT CASE WHEN _v.old IS NOT NULL THEN ${columns} END FROM (SELECT old ${later} ORDER BY seq LIMIT 1) AS _v)`;
  return bind(sql`SELECT ${next} AS columns, EXISTS (SELECT 1 ${later} AND op = 'delete') AS deleted`, [of]);
}
