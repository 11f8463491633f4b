import type { Key, OrderTerm } from "../list/order.js";
import { and, commaList, name, or, type Param, param, type Sql, sql } from "./fragment.js";

/** A column of the row at hand. */
export type Refer = (column: OrderTerm["column"]) => Sql;

export function orderBy(order: readonly OrderTerm[], refer: Refer): Sql {
  if (order.length === 0) return sql``;
  const terms = order.map(({ column, descending }) =>
    descending ? sql`${refer(column)} DESC` : refer(column),
  );
  return sql` ORDER BY ${commaList(terms)}`;
}

/**
 * The rows behind a place, as disjoint ranges in the order's own order: each is an equality on the first terms and a
 * range on the next, which is what an index can seek.
 */
export interface Arm {
  readonly condition: Sql;
  /** The term that the range is on. Bounds of the same column in the same direction are implied by it. */
  readonly depth: number;
  readonly isNullRange: boolean;
}

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

/** The same as one condition, for rows that come in another order. */
export function behind(order: readonly OrderTerm[], key: Key, refer: Refer): Sql {
  return or(armsBehind(order, key, refer).map(({ condition }) => condition));
}

/** At or before a place whose values are SQL themselves; exact also where some of them are NULL. */
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
 * A weaker bound that an index can stop at: the whole place as a row value where it holds no NULL and runs one way, else
 * its first term alone.
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

/** A place given by values. */
export function placeOf(order: readonly OrderTerm[], key: Key): Refer {
  return (column) => param(key[order.findIndex((term) => term.column === column)]!);
}

/** Columns of a subquery or table by their alias. */
export function columnsOfAlias(alias: Sql): Refer {
  return (column) => sql`${alias}.${name(column.name)}`;
}
