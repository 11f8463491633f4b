import type { Key, OrderTerm } from "../plan/order.js";
import { and, carried, commaList, name, or, type Param, param, type Sql, sql } from "../sql-text/fragment.js";

/** Gives the SQL for a column of an order: for example that of an alias, or the value of a place in the order. */
export type Refer = (column: OrderTerm["column"]) => Sql;

/** Makes an ORDER BY clause with a space before it; empty for an order without columns. */
export function orderBy(order: readonly OrderTerm[], refer: Refer): Sql {
  if (order.length === 0) return sql``;
  const terms = order.map(({ column, descending }) => (descending ? sql`${refer(column)} DESC` : refer(column)));
  return sql` ORDER BY ${commaList(terms)}`;
}

/**
 * A range of rows: those after a place in an order are divided into ranges, each of which an index can seek. A range
 * has equalities on the first columns of the order and an inequality on the next one. For example, after the place (1,
 * 2) come the ranges `a = 1 AND b > 2` and then `a > 1`.
 */
export interface Arm {
  readonly condition: Sql;
  /** Which column of the order, counted from 0, has the inequality of this range. */
  readonly depth: number;
  /** Whether this range is `IS NULL` on its column: in descending order, the rows with NULL come last. */
  readonly isNullRange: boolean;
}

/**
 * Makes the ranges into which the rows after a place in an order are divided (see `Arm`). `key` has the values of the
 * place. No row is in two ranges, and the ranges follow one another in the order.
 */
export function armsBehind(order: readonly OrderTerm[], key: Key, refer: Refer): readonly Arm[] {
  return order.flatMap((_, i) => {
    const depth = order.length - 1 - i;
    const equal = order.slice(0, depth).map((term, at) => equalTo(refer(term.column), key[at]!));
    return behindOne(order[depth]!, key[depth]!, refer).map(({ range, isNullRange }) => ({
      condition: and([...equal, range]),
      depth,
      isNullRange,
    }));
  });
}

/**
 * Makes the SQL of what `seek` finds in the first range that has a row, of those into which the rows after a place are
 * divided, as by `armsBehind`. For orders in which no column can be NULL. `place` gives the SQL of the place's values.
 */
export function firstAfter(order: readonly OrderTerm[], refer: Refer, place: Refer, seek: (arm: Sql) => Sql): Sql {
  const arms = order.map((_, i) => {
    const depth = order.length - 1 - i;
    const { column, descending } = order[depth]!;
    const equal = order.slice(0, depth).map((term) => sql`${refer(term.column)} = ${place(term.column)}`);
    const range = descending ? sql`${refer(column)} < ${place(column)}` : sql`${refer(column)} > ${place(column)}`;
    return seek(and([...equal, range]));
  });
  return arms.length === 1 ? arms[0]! : sql`coalesce(${commaList(arms)})`;
}

function behindOne({ column, descending, nullable }: OrderTerm, value: Param, refer: Refer) {
  const ref = refer(column);
  const ranges: { range: Sql; isNullRange: boolean }[] = [];
  if (value !== null)
    ranges.push({
      range: descending ? sql`${ref} < ${param(value)}` : sql`${ref} > ${param(value)}`,
      isNullRange: false,
    });
  else if (!descending) ranges.push({ range: sql`${ref} IS NOT NULL`, isNullRange: false });
  if (value !== null && descending && nullable) ranges.push({ range: sql`${ref} IS NULL`, isNullRange: true });
  return ranges;
}

function equalTo(ref: Sql, value: Param): Sql {
  return value === null ? sql`${ref} IS NULL` : sql`${ref} = ${param(value)}`;
}

/**
 * Makes the condition, as one expression, that a row comes after a place in the order. For rows that are not read in
 * the order, so that no index can seek the place.
 */
export function behind(order: readonly OrderTerm[], key: Key, refer: Refer): Sql {
  return or(armsBehind(order, key, refer).map(({ condition }) => condition));
}

/**
 * Makes the condition that a row is at a place in the order or before it. `place` gives the SQL of the values of the
 * place, which may be NULL.
 */
export function notBehind(order: readonly OrderTerm[], refer: Refer, place: Refer): Sql {
  const [first, ...rest] = order;
  if (first === undefined) return sql`1`;
  const mine = refer(first.column);
  const its = place(first.column);
  const [low, high] = first.descending ? [its, mine] : [mine, its];
  const before = first.nullable
    ? sql`(${low} < ${high} OR (${low} IS NULL AND ${high} IS NOT NULL))`
    : sql`${low} < ${high}`;
  if (rest.length === 0) return first.nullable ? sql`(${before} OR ${mine} IS ${its})` : notBeyond(first, mine, its);
  const tie = first.nullable ? sql`${mine} IS ${its}` : sql`${mine} = ${its}`;
  return sql`(${before} OR (${tie} AND ${notBehind(rest, refer, place)}))`;
}

/**
 * Makes a condition by which an index can end its scan: it is TRUE for all rows up to a place in the order, and maybe
 * for some after it. It compares row values where no column can be NULL and all have the same direction, else the first
 * column alone. Null where the first column can be NULL.
 */
export function stopAt(order: readonly OrderTerm[], refer: Refer, place: Refer): Sql | null {
  const [first] = order;
  if (first === undefined || first.nullable) return null;
  const uniform = order.every(({ nullable, descending }) => !nullable && descending === first.descending);
  if (!uniform || order.length === 1) return notBeyond(first, refer(first.column), place(first.column));
  const mine = commaList(order.map(({ column }) => refer(column)));
  const its = commaList(order.map(({ column }) => place(column)));
  return first.descending ? sql`(${mine}) >= (${its})` : sql`(${mine}) <= (${its})`;
}

function notBeyond({ descending }: OrderTerm, mine: Sql, its: Sql): Sql {
  return descending ? sql`${mine} >= ${its}` : sql`${mine} <= ${its}`;
}

/** Makes a `Refer` that gives, for each column of the order, a placeholder for the value that `key` has for it. */
export function placeOf(order: readonly OrderTerm[], key: Key): Refer {
  return (column) => param(key[order.findIndex((term) => term.column === column)]!);
}

/** Makes a `Refer` that gives the columns of an alias of a table. */
export function columnsOfTable(alias: Sql): Refer {
  return (column) => sql`${alias}.${name(column.name)}`;
}

/** Makes a `Refer` that gives the columns of an alias of a subquery. */
export function columnsOfAlias(alias: Sql): Refer {
  return (column) => sql`${alias}.${carried(column.name)}`;
}

/**
 * Makes a `Refer` that gives the values of a place in the order. `table` is a table or subquery for a FROM, and its
 * only row has these values in columns of the same names.
 */
export function placeIn(table: Sql): Refer {
  return (column) => sql`(SELECT ${carried(column.name)} FROM ${table})`;
}
