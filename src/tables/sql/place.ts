import type { Key, OrderTerm } from "../list/order.js";
import { and, commaList, name, or, type Param, param, type Sql, sql } from "./fragment.js";

/** Gives the SQL for a column of an order. */
export type Refer = (column: OrderTerm["column"]) => Sql;

/** An ORDER BY clause with a space before it; empty for an order without columns. */
export function orderBy(order: readonly OrderTerm[], refer: Refer): Sql {
  if (order.length === 0) return sql``;
  const terms = order.map(({ column, descending }) =>
    descending ? sql`${refer(column)} DESC` : refer(column),
  );
  return sql` ORDER BY ${commaList(terms)}`;
}

/**
 * One of the ranges into which the rows after a place are divided. A range has equalities on the first terms of the
 * order and an inequality on the next, which is what an index can seek. For example, after (1, 2) come `a = 1 AND b >
 * 2` and then `a > 1`.
 */
export interface Arm {
  readonly condition: Sql;
  /** The position in the order, from 0, of the column with the inequality. */
  readonly depth: number;
  /** Whether the range holds the NULLs of a column, which come last in descending order. */
  readonly isNullRange: boolean;
}

/**
 * The ranges into which the rows after a place in an order are divided (see `Arm`). They are disjoint, and one after
 * the other they are in the order.
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
 * The conditions of the ranges into which the rows after a place are divided, as in `armsBehind`, where no column of
 * the order can be NULL. `place` gives the SQL of the place's values.
 */
export function armsAfter(order: readonly OrderTerm[], refer: Refer, place: Refer): readonly Sql[] {
  return order.map((_, i) => {
    const depth = order.length - 1 - i;
    const { column, descending } = order[depth]!;
    const equal = order.slice(0, depth).map((term) => sql`${refer(term.column)} = ${place(term.column)}`);
    const range = descending
      ? sql`${refer(column)} < ${place(column)}`
      : sql`${refer(column)} > ${place(column)}`;
    return and([...equal, range]);
  });
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
  if (value !== null && descending && nullable)
    ranges.push({ range: sql`${ref} IS NULL`, isNullRange: true });
  return ranges;
}

function equalTo(ref: Sql, value: Param): Sql {
  return value === null ? sql`${ref} IS NULL` : sql`${ref} = ${param(value)}`;
}

/**
 * The condition that a row comes after a place in the order, as one expression, for rows that are not read in the
 * order.
 */
export function behind(order: readonly OrderTerm[], key: Key, refer: Refer): Sql {
  return or(armsBehind(order, key, refer).map(({ condition }) => condition));
}

/**
 * The condition that a row is at a place in the order or before it. `place` gives the SQL for the place's values, which
 * may be NULL.
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
  if (rest.length === 0)
    return first.nullable ? sql`(${before} OR ${mine} IS ${its})` : notBeyond(first, mine, its);
  const tie = first.nullable ? sql`${mine} IS ${its}` : sql`${mine} = ${its}`;
  return sql`(${before} OR (${tie} AND ${notBehind(rest, refer, place)}))`;
}

/**
 * A condition that is TRUE for all rows at a place in the order or before it, and for some after it, and that lets an
 * index end the scan: a comparison of row values where no column can be NULL and all have the same direction, else a
 * bound of the first column. Null where the first column can be NULL.
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

/** Makes a `Refer` that gives, for each column of the order, a placeholder with the key's value for it. */
export function placeOf(order: readonly OrderTerm[], key: Key): Refer {
  return (column) => param(key[order.findIndex((term) => term.column === column)]!);
}

/** Makes a `Refer` that gives columns with an alias before them, which names a subquery or a table. */
export function columnsOfAlias(alias: Sql): Refer {
  return (column) => sql`${alias}.${name(column.name)}`;
}

/** Makes a `Refer` that gives the values of a place that is the only row of a table in a FROM. */
export function placeIn(table: Sql): Refer {
  return (column) => sql`(SELECT ${name(column.name)} FROM ${table})`;
}
