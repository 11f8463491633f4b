import type { LoggedTable } from "../../changes/image.js";
import type { Column } from "../../project/model.js";
import type { Exists, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { conjuncts, existsChains, existsIn } from "../../rules/walk.js";
import { sqlTableName } from "../../sqlite/names.js";
import type { ReadAccess } from "../plan/expansion.js";
import type { Key } from "../plan/order.js";
import {
  aliasName,
  and,
  carried,
  carriedIn,
  columnsIn,
  columnsOut,
  commaList,
  integer,
  join,
  name,
  param,
  type Slot,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import {
  type AsOf,
  asOf,
  asShownOf,
  hasKey,
  isInPage,
  key,
  keyColumn,
  keyObject,
  tableLiteral,
  withinBytes,
} from "./as-of.js";
import { notBehind, placeOf, type Refer } from "./place.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { jsonWithin, storedBytes } from "./wire.js";

/** The part of one table that a caller follows, which means that the caller keeps a synced copy of it. */
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

/** Which page of changes a statement reads for a caller who follows a table. */
export interface DeltaPage {
  /** The moment up to which the caller already knows all changes. */
  readonly from: Slot;
  /** The moment up to which this page and the pages after it tell of changes. */
  readonly to: Slot;
  /** The text of the key with which the page before ended; null for the first page. */
  readonly after: Slot | null;
  /** How many rows the page has at most. */
  readonly limit: number;
  /** How many keys are examined for the page at most. */
  readonly window: number;
  /** How many bytes the rows of the page have at most. */
  readonly bytesMax: number;
  /** The place that the caller's copy has come to, if it is not complete: only rows up to there are examined. */
  readonly copiedTo: CopiedTo | null;
}

/** A place in the list of a table's rows: the columns of its key that order the list, and a value for each of them. */
export interface CopiedTo {
  readonly columns: readonly Column[];
  readonly key: Key;
}

/** How many keys all pages may have to examine. Where there are more, the caller starts the copy anew. */
export const candidatesMax = 50_000;

/**
 * Makes the statement for what changed for a caller between two moments. It returns a row `[pk, key, row, had, …]` for
 * each key with a change. `pk` is the key's text in the log of changes, `key` the key in JSON. `row` is the row in JSON
 * at the second moment, or `too large` where the database cannot put it into an answer; NULL where the caller may not
 * see it then. `had` is 1 where the caller could see it at the first moment. One more row follows, with the text of the
 * key that was examined last, and in its last columns four numbers: how many keys were examined for the page, how many
 * of these have changed for the caller (up to one more than the limit), how many keys there are for all pages (up to one
 * more than `candidatesMax`), and 1 where the rows were too large to examine as many keys as `window`, else 0. No row
 * comes where no key was examined.
 */
export function deltaStatement(
  followed: Followed,
  { from, to, after, limit, window, bytesMax, copiedTo }: DeltaPage,
): Sql {
  const { access, logged, related } = followed;
  const tables = [logged, ...related.filter(({ table }) => table !== logged.table)];
  const before = asOf(param(from), "c", tables, access.catalog);
  const now = asOf(param(to), "h", tables, access.catalog);
  const leads = existsChains(followed.rule).map((chain) => led(chain, followed, before, now, tables));
  const own = sql`SELECT pk FROM ${before.changed} WHERE tbl = ${tableLiteral(logged.table)}`;
  const rest = after === null ? sql`1` : sql`pk > ${param(after)}`;
  const isCopied = copiedTo === null ? sql`1` : isUpTo(copiedTo, followed);
  const ctes = [
    ...before.ctes,
    ...now.ctes,
    sql`_k AS MATERIALIZED (SELECT pk FROM (${join([own, ...leads], sql` UNION `)}) WHERE ${isCopied} LIMIT ${integer(candidatesMax + 1)})`,
    sql`_q AS MATERIALIZED (SELECT pk FROM _k WHERE ${rest} ORDER BY pk LIMIT ${integer(window)})`,
    sql`_p AS MATERIALIZED (${withinBytes(sql`pk`, sql`(${sizes(before, now, followed)})`, sql`pk`, 2 * bytesMax)})`,
    sql`_a AS MATERIALIZED (${seenAt(before, followed)})`,
    sql`_b AS MATERIALIZED (${seenAt(now, followed)})`,
    sql`_d AS MATERIALIZED (SELECT _p.pk AS pk, _b.row AS row, _a.pk IS NOT NULL AS had, sum(ifnull(_b.bytes, 0)) OVER (ORDER BY _p.pk ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER (ORDER BY _p.pk) AS n FROM _p LEFT JOIN _a ON _a.pk = _p.pk LEFT JOIN _b ON _b.pk = _p.pk WHERE _a.row IS NOT _b.row ORDER BY _p.pk LIMIT ${integer(limit + 1)})`,
  ];
  return page(ctes, followed, limit, bytesMax);
}

/** A SELECT of the keys of `_q` with how many `bytes` their rows have at both moments, of which no value is read. */
function sizes(before: AsOf, now: AsOf, { access: { table }, logged }: Followed): Sql {
  const row = storedBytes([...table.columns.values()], ({ name: column }) => sql`_t.${name(column)}`);
  const images = [sql`_l`, sql`_m`].map((alias) => sql`ifnull(octet_length(${alias}.old), 0)`);
  const joins = sql`${before.withImage(logged.table, sql`_q.pk`, sql`_l`)}${now.withImage(logged.table, sql`_q.pk`, sql`_m`)}`;
  return sql`SELECT _q.pk AS pk, ${join([...images, row], sql` + `)} AS bytes FROM _q${joins} LEFT JOIN ${name(logged.table)} AS _t ON ${hasKey(logged, sql`_t`, sql`_q.pk`)}`;
}

/** The condition that the key with the text `pk` does not come after a place. */
function isUpTo({ columns, key }: CopiedTo, { logged }: Followed): Sql {
  const order = columns.map((column) => ({ column, descending: false, nullable: false }));
  const placeIn = ({ name: column }: Parameters<Refer>[0]) => logged.key.findIndex((its) => its.name === column);
  return notBehind(order, (column) => keyColumn(logged, placeIn(column), sql`pk`), placeOf(order, key));
}

/** A SELECT of the rows of `_p` that the caller could see at a moment: `pk`, `row` in JSON, and its `bytes`. */
function seenAt(moment: AsOf, followed: Followed): Sql {
  const { logged } = followed;
  const there = sql`SELECT _p.pk AS _pk, ${columnsOut(sql`_t`, logged.columns)} FROM _p CROSS JOIN ${name(logged.table)} AS _t WHERE ${hasKey(logged, sql`_t`, sql`_p.pk`)} AND ${moment.isUnchanged(logged.table, sql`_t`)}`;
  const changed = moment.imagesAmong(sql`_p`, logged.table);
  const { row, bytes } = shown(followed);
  return sql`SELECT _r._pk AS pk, ${row} AS row, ${bytes} AS bytes FROM (${there} UNION ALL ${changed}) AS _r WHERE ${holdsAt(moment, followed)}`;
}

/**
 * The SQL of the row `_r` in JSON, with the columns that the caller is shown, and of the size of what is stored in
 * them. Instead of a row that is too large for an answer there is the text `too large`.
 */
function shown({ access: { table, catalog }, output }: Followed): { readonly row: Sql; readonly bytes: Sql } {
  const refer = ({ name: column }: Column) => sql`_r.${carried(column)}`;
  return {
    row: jsonWithin(catalog, table, output, refer, sql`'too large'`),
    bytes: storedBytes(output, refer),
  };
}

/** The condition that the rule is TRUE of `_r`, where each `exists` looks into its table as it was. */
function holdsAt(moment: AsOf, { access: { table, catalog }, rule }: Followed): Sql {
  if (alwaysTrue(rule)) return sql`1`;
  const physical = catalog.tables.get(table.name);
  const names: SqlNames = {
    ...namesOf(physical),
    row: (column) => sql`_r.${carried(column)}`,
    exists: (node) => moment.exists(node, names),
  };
  return predicate(asShownOf(rule, "row", physical), names);
}

function page(ctes: readonly Sql[], { access, logged }: Followed, limit: number, bytesMax: number): Sql {
  const { table, catalog } = access;
  const last = sql`SELECT pk FROM _p ORDER BY pk DESC LIMIT 1`;
  // The answer has the whole key: whoever follows a table may read its key.
  const keyJson = keyObject(logged, [...table.columns.values()], sql`_d.pk`, catalog.tables.get(table.name));
  const counts = sql`(SELECT count(*) FROM _p), (SELECT count(*) FROM _d), (SELECT count(*) FROM _k), (SELECT count(*) FROM _q) > (SELECT count(*) FROM _p)`;
  return sql`WITH ${commaList(ctes)} SELECT pk, ${keyJson} AS key, row, had, NULL AS examined, NULL AS told, NULL AS candidates, NULL AS cut FROM _d WHERE ${isInPage(limit, bytesMax)} UNION ALL SELECT pk, NULL, NULL, NULL, ${counts} FROM (${last})`;
}

/**
 * A SELECT of the keys of the rows for which an `exists` may have another result than before, because rows of its own
 * table were changed. From each of these, as it was and as it is, the equalities of the `exists` lead to the rows. Keys
 * of rows that were changed themselves may be missing, because those are examined anyway.
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
  const changed = join(
    [
      sql`SELECT ${carriedIn(sql`_i`, own.columns)} FROM ${before.images(from)} AS _i`,
      sql`SELECT ${carriedIn(sql`_i`, own.columns)} FROM ${now.images(from)} AS _i`,
      sql`SELECT ${columnsIn(sql`_s`, own.columns)} FROM ${before.changed} AS _f CROSS JOIN ${name(from)} AS _s WHERE _f.tbl = ${tableLiteral(from)} AND ${hasKey(own, sql`_s`, sql`_f.pk`)}`,
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
    isCarried: (alias) => alias === last.alias,
  };
  const terms = chain
    .flatMap(({ where }) => conjuncts(where))
    .filter((term) => existsIn(term).length === 0)
    .map((term) => predicate(asShownOf(term, last, catalog.tables.get(from)), names));
  return sql`SELECT ${key(logged, sql`_t`)} AS pk FROM (${changed}) AS ${aliasName(last.alias)}${join(between, sql``)} CROSS JOIN ${name(logged.table)} AS _t WHERE ${and(terms)}`;
}
