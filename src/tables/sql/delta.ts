import type { LoggedTable } from "../../changes/image.js";
import type { Column } from "../../project/model.js";
import type { Exists, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { conjuncts, existsChains, existsIn } from "../../rules/walk.js";
import { sqlTableName } from "../../sqlite/names.js";
import type { ReadAccess } from "../expansion/expansion.js";
import { type AsOf, asOf, asShownOf, hasKey, isInPage, key, keyObject, text } from "./as-of.js";
import {
  aliasName,
  and,
  commaList,
  integer,
  join,
  name,
  param,
  type Slot,
  type Sql,
  sql,
} from "./fragment.js";
import { rowsAsOf } from "./past.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { jsonWithin, storedBytes } from "./wire.js";

/** What a caller follows (keeps a synced copy) of one table. */
export interface Followed {
  readonly access: Pick<ReadAccess, "table" | "catalog">;
  /** What has to be TRUE of a row for the caller to have it: the rule for reading, and the caller's filters. */
  readonly rule: Expression;
  /** The columns that the caller is shown. */
  readonly output: readonly Column[];
  readonly logged: LoggedTable;
  /** The tables that the rule's `exists` look into, each once. */
  readonly related: readonly LoggedTable[];
}

/** A page of changes for a caller who follows a table, with the slots of its statement. */
export interface DeltaPage {
  /** The moment up to which the caller already knows all changes. */
  readonly from: Slot;
  /** The moment up to which this page and the following ones tell of changes. */
  readonly to: Slot;
  /** The text of the key with which the page before ended; null for the first page. */
  readonly after: Slot | null;
  /** How many rows the page has at most. */
  readonly limit: number;
  /** How many keys are examined for the page at most. */
  readonly window: number;
}

/** How many keys may have to be examined for all pages before the caller has to start the copy anew. */
export const candidatesMax = 50_000;

/**
 * Makes the statement for what changed for a caller between two moments, by key: `[pk, key, row, had, …]`. `key` is the
 * key in JSON. `row` is the row in JSON, NULL where the caller has it no more, and `had` is 1 where the caller had it.
 * After these rows comes one with the text of the key that was examined last, and in its last columns how many keys
 * were examined, how many of these changed for the caller (up to one more than the limit), and how many keys there are
 * in all, up to one more than `candidatesMax`. No row comes where no key was examined.
 */
export function deltaStatement(followed: Followed, { from, to, after, limit, window }: DeltaPage): Sql {
  const { access, logged, related } = followed;
  const tables = [logged, ...related.filter(({ table }) => table !== logged.table)];
  const before = asOf(param(from), "c", tables, access.catalog);
  const now = asOf(param(to), "h", tables, access.catalog);
  const leads = existsChains(followed.rule).map((chain) => led(chain, followed, before, now, tables));
  const own = sql`SELECT pk FROM ${before.changed} WHERE tbl = ${text(logged.table)}`;
  const rest = after === null ? sql`1` : sql`pk > ${param(after)}`;
  const ctes = [
    ...before.ctes,
    ...now.ctes,
    sql`_k AS MATERIALIZED (SELECT pk FROM (${join([own, ...leads], sql` UNION `)}) LIMIT ${integer(candidatesMax + 1)})`,
    sql`_p AS MATERIALIZED (SELECT pk FROM _k WHERE ${rest} ORDER BY pk LIMIT ${integer(window)})`,
    sql`_a AS MATERIALIZED (${seenAt(before, followed)})`,
    sql`_b AS MATERIALIZED (${seenAt(now, followed)})`,
    sql`_d AS MATERIALIZED (SELECT _p.pk AS pk, _b.row AS row, _a.pk IS NOT NULL AS had, sum(ifnull(_b.bytes, 0)) OVER (ORDER BY _p.pk ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER (ORDER BY _p.pk) AS n FROM _p LEFT JOIN _a ON _a.pk = _p.pk LEFT JOIN _b ON _b.pk = _p.pk WHERE _a.row IS NOT _b.row ORDER BY _p.pk LIMIT ${integer(limit + 1)})`,
  ];
  return page(ctes, followed, limit, sql`SELECT pk FROM _p ORDER BY pk DESC LIMIT 1`);
}

/**
 * Makes the statement for everything that a caller may see at one moment, in the form in which `deltaStatement` tells
 * of inserted rows.
 */
export function wholeStatement(
  followed: Followed,
  { to, after, limit, window }: Omit<DeltaPage, "from">,
): Sql {
  const { access, logged, related } = followed;
  const tables = [logged, ...related.filter(({ table }) => table !== logged.table)];
  const now = asOf(param(to), "h", tables, access.catalog);
  const order = (direction: Sql) =>
    commaList(logged.key.map((column) => sql`_r.${name(column.name)}${direction}`));
  const { row, bytes } = shown(followed);
  const ctes = [
    ...now.ctes,
    sql`_p AS MATERIALIZED (${rowsAsOf(now, logged, after, window)})`,
    sql`_k AS (SELECT _pk FROM _p)`,
    sql`_d AS MATERIALIZED (SELECT _r._pk AS pk, ${row} AS row, 0 AS had, sum(${bytes}) OVER (ORDER BY ${order(sql``)} ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER (ORDER BY ${order(sql``)}) AS n FROM _p AS _r WHERE ${holdsAt(now, followed)} ORDER BY ${order(sql``)} LIMIT ${integer(limit + 1)})`,
  ];
  return page(
    ctes,
    followed,
    limit,
    sql`SELECT _pk AS pk FROM _p AS _r ORDER BY ${order(sql` DESC`)} LIMIT 1`,
  );
}

/**
 * A SELECT of those of the rows `_p` that the caller could see at a moment: `pk`, `row` in JSON, and `bytes`, the size
 * of what is stored.
 */
function seenAt(moment: AsOf, followed: Followed): Sql {
  const { logged } = followed;
  const columns = (alias: Sql) =>
    commaList(logged.columns.map((column) => sql`${alias}.${name(column.name)}`));
  const there = sql`SELECT _p.pk AS _pk, ${columns(sql`_t`)} FROM _p CROSS JOIN ${name(logged.table)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_p.pk`)} AND ${moment.isUnchanged(logged.table, sql`_t`)}`;
  const changed = sql`SELECT _i._pk, ${columns(sql`_i`)} FROM _p CROSS JOIN ${moment.images(logged.table)} AS _i WHERE _i._pk = _p.pk`;
  const { row, bytes } = shown(followed);
  return sql`SELECT _r._pk AS pk, ${row} AS row, ${bytes} AS bytes FROM (${there} UNION ALL ${changed}) AS _r WHERE ${holdsAt(moment, followed)}`;
}

/** The row `_r` in JSON, with the columns that the caller is shown, and the size of what is stored in them. */
function shown({ access: { table, catalog }, output }: Followed): { readonly row: Sql; readonly bytes: Sql } {
  const refer = ({ name: column }: Column) => sql`_r.${name(column)}`;
  return {
    row: jsonWithin(catalog, table, output, refer, sql`'too large'`),
    bytes: storedBytes(output, refer),
  };
}

/** Whether the rule is TRUE of the row `_r`, where each `exists` looks into its table as it was at a moment. */
function holdsAt(moment: AsOf, { access: { table, catalog }, rule }: Followed): Sql {
  if (alwaysTrue(rule)) return sql`1`;
  const physical = catalog.tables.get(table.name);
  const names: SqlNames = {
    ...namesOf(physical),
    row: (column) => sql`_r.${name(column)}`,
    exists: (node) => moment.exists(node, names),
  };
  return predicate(asShownOf(rule, "row", physical), names);
}

function page(ctes: readonly Sql[], { access, logged }: Followed, limit: number, last: Sql): Sql {
  const { table, catalog } = access;
  // The answer has the whole key: whoever follows a table may read its key.
  const keyJson = keyObject(logged, [...table.columns.values()], sql`_d.pk`, catalog.tables.get(table.name));
  const counts = sql`(SELECT count(*) FROM _p), (SELECT count(*) FROM _d), (SELECT count(*) FROM _k)`;
  return sql`WITH ${commaList(ctes)} SELECT pk, ${keyJson} AS key, row, had, NULL AS examined, NULL AS told, NULL AS candidates FROM _d WHERE ${isInPage(limit, catalog)} UNION ALL SELECT pk, NULL, NULL, NULL, ${counts} FROM (${last})`;
}

/**
 * A SELECT of the keys of the rows for which an `exists` may have another result than before, because of changes in its
 * own table: those that the changed rows of this table, as they were and as they are, lead to by the equalities of the
 * `exists`. Rows that were changed themselves need not be among them.
 */
function led(
  chain: readonly Exists[],
  { access: { catalog }, logged }: Followed,
  before: AsOf,
  now: AsOf,
  tables: readonly LoggedTable[],
): Sql {
  const last = chain.at(-1)!;
  const from = sqlTableName(last.table);
  const own = tables.find(({ table }) => table === from)!;
  const columns = (alias: Sql) => commaList(own.columns.map((column) => sql`${alias}.${name(column.name)}`));
  const changed = join(
    [
      sql`SELECT ${columns(sql`_i`)} FROM ${before.images(from)} AS _i`,
      sql`SELECT ${columns(sql`_i`)} FROM ${now.images(from)} AS _i`,
      sql`SELECT ${columns(sql`_s`)} FROM ${before.changed} AS _f CROSS JOIN ${name(from)} AS _s WHERE _f.tbl = ${text(from)} AND ${hasKey(own, sql`_s`, sql`_f.pk`)}`,
    ],
    sql` UNION ALL `,
  );
  const between = chain
    .slice(0, -1)
    .reverse()
    .map(({ table, alias }) => sql` CROSS JOIN ${name(sqlTableName(table))} AS ${aliasName(alias)}`);
  const names: SqlNames = {
    ...noNames,
    collations: catalog.tables.get(logged.table)?.collations ?? noNames.collations,
    row: (column) => sql`_t.${name(column)}`,
  };
  const terms = chain
    .flatMap(({ where }) => conjuncts(where))
    .filter((term) => existsIn(term).length === 0)
    .map((term) => predicate(asShownOf(term, last, catalog.tables.get(from)), names));
  return sql`SELECT ${key(logged, sql`_t`)} AS pk FROM (${changed}) AS ${aliasName(last.alias)}${join(between, sql``)} CROSS JOIN ${name(logged.table)} AS _t WHERE ${and(terms)}`;
}
