import type { Table } from "../../project/model.js";
import type { Expression, Operand } from "../../rules/ast.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { OrderTerm } from "./order.js";
import type { Way, Ways } from "./ways.js";

/**
 * The conditions that a row has to pass to be in a list. Of the filters, the choice of an index considers equalities,
 * null tests, lists of values (`in`) and ranges; of the rule only equalities.
 */
export interface ListConditions {
  /** The conditions that the caller's filters set. */
  readonly filters: readonly Expression[];
  /** The parts of the read rule that all have to hold (joined by `and`) and that name a column of the row. */
  readonly rule: readonly Expression[];
}

/**
 * How the rows of a list are found: by which index or ways, and which of the conditions are thereby taken care of (they
 * are served). Rows that pass the served conditions are called candidates.
 */
export interface AccessPath {
  /**
   * The ways by which rows are found, one or more; then `index` is null, and `served` is empty. Null where rows are
   * found by the index or the table.
   */
  readonly ways: readonly WalkedWay[] | null;
  /** The index by which rows are found; null for the table itself: in the order of its key, unless it is virtual. */
  readonly index: CatalogIndex | null;
  /** Whether the SQL says which index to use: not for virtual tables, for which SQLite has no such clause. */
  readonly steered: boolean;
  /** The conditions that the index serves: SQLite seeks the rows for which they are TRUE. */
  readonly served: readonly Expression[];
  /** The conditions that the index does not serve. Each candidate is tested by them. */
  readonly rest: readonly Expression[];
  /** Whether candidates come in the order asked for, so that a page need not examine all of them. */
  readonly ordered: boolean;
  /**
   * The order that was asked for, without the columns that have one value in all candidates, because a condition says
   * what they equal.
   */
  readonly order: readonly OrderTerm[];
}

/** A way to rows of the listed table, and how the table is searched at its end. */
export interface WalkedWay extends Way {
  /** An index that serves the way's column and the conditions of `served`; null for the table itself. */
  readonly index: CatalogIndex | null;
  readonly served: readonly Expression[];
}

/**
 * Whether nothing is left to test: every candidate is in the list, and candidates come in the order asked for. Where
 * there are several ways, this is false, because a row that two of them lead to is a candidate twice, which has to be
 * tested.
 */
export function isUnjudged({ ordered, rest, ways }: AccessPath): boolean {
  return ordered && rest.length === 0 && (ways === null || ways.length === 1);
}

/**
 * Whether a path seeks the rows for which a column equals a value that the request brings: a filter's, or one of the
 * caller's, such as the id. A value that the rule itself contains, such as a status, may be that of most rows.
 */
export function seeksByRequest({ served }: AccessPath, { filters }: ListConditions): boolean {
  return served.some((condition) => {
    const isEquality = constantColumn(condition) !== null || condition.kind === "in_given";
    return isEquality && (filters.includes(condition) || namesGiven(condition));
  });
}

function namesGiven(condition: Expression): boolean {
  return condition.kind === "compare" && [condition.left, condition.right].some(({ kind }) => kind === "given");
}

/**
 * Returns the path of a list by ways. Each way searches the listed table by an index that serves the way's column: by
 * one that yields the order if there is one, and among several by the one that serves most of the filters' equalities.
 * `order` is the whole order: a column that has one value in all rows of a way may have another value in the rows of
 * the next way.
 */
export function pathByWays(
  table: Table,
  physical: CatalogTable,
  { filters }: ListConditions,
  { ways, rest }: Ways,
  order: readonly OrderTerm[],
): AccessPath {
  const ends = ways.map((way) => endOf(way, physical, filters, order));
  const walked = ends.map(({ way }) => way);
  const isServed = (filter: Expression) => walked.every(({ served }) => served.includes(filter));
  return {
    ways: walked,
    index: null,
    steered: true,
    served: [],
    rest: [...filters.filter((filter) => !isServed(filter)), ...rest],
    // Rows of several ways are merged by comparing their places in the order. SQL cannot do this by one comparison
    // where there are NULLs. And rows are found again by a key of one column. So the order is yielded only where no
    // column of it can be NULL, and one column identifies a row.
    ordered:
      ends.every(({ ordered }) => ordered) &&
      order.every(({ nullable }) => !nullable) &&
      rowKeyOf(table, physical)?.length === 1,
    order,
  };
}

/**
 * Returns the columns that identify a row and by which the table itself is sorted: the rowid, or the primary key of a
 * table WITHOUT ROWID. Null where SQL cannot name the rowid, and for virtual tables, of which it is not known how they
 * find a row.
 */
export function rowKeyOf(table: Table, physical: CatalogTable | undefined): readonly ColumnName[] | null {
  if (physical === undefined || table.virtual) return null;
  if (physical.rowid !== null) return [physical.rowid];
  return physical.indexes.find(({ isTable }) => isTable)?.columns.map((column) => column.name) ?? null;
}

function endOf(
  way: Way,
  physical: CatalogTable,
  filters: readonly Expression[],
  order: readonly OrderTerm[],
): { readonly way: WalkedWay; readonly ordered: boolean } {
  const ends = walks(physical).flatMap((walk) => {
    const served: Expression[] = [];
    const constant = new Set<string>();
    let reached = false;
    let at = 0;
    for (; at < walk.seekable; at++) {
      const { name } = walk.columns[at]!;
      const equal = filters.find((filter) => filter.kind === "compare" && constantColumn(filter) === name);
      if (name === way.column) reached = true;
      else if (equal === undefined) break;
      else {
        served.push(equal);
        constant.add(name);
      }
    }
    if (!reached) return [];
    const isUnique = at === walk.seekable && (walk.index?.unique ?? true);
    const free = order.filter(({ column }) => !constant.has(column.name));
    const ordered = isUnique || yieldsOrder(walk.columns.slice(at), free);
    return [{ way: { ...way, index: walk.index, served }, ordered, served: served.length }];
  });
  return ends.reduce((best, end) =>
    compareRanks([Number(end.ordered), end.served], [Number(best.ordered), best.served]) > 0 ? end : best,
  );
}

/**
 * Chooses the path by which a list finds its rows. It depends on the schema and the request, not on what is stored, so
 * that the same request always takes the same path. First comes the path that finds at most one row by a unique key,
 * then the one that serves most equalities, then one that yields the order asked for, then one that serves a range.
 * With `orderedOnly`, only paths that yield the order are considered, if there are any.
 */
export function chooseAccessPath(
  table: Table,
  catalog: Catalog,
  conditions: ListConditions,
  order: readonly OrderTerm[],
  orderedOnly: boolean,
): AccessPath {
  const physical = catalog.tables.get(table.name);
  if (table.virtual || physical === undefined)
    return {
      ways: null,
      index: null,
      steered: false,
      served: [],
      rest: all(conditions),
      ordered: false,
      order,
    };
  const paths = walks(physical).map((walk) => pathOf(walk, conditions, order, !orderedOnly));
  const candidates = orderedOnly ? paths.filter(({ ordered }) => ordered) : paths;
  return (candidates.length > 0 ? candidates : paths).reduce((best, path) =>
    compareRanks(rank(path), rank(best)) > 0 ? path : best,
  );
}

/**
 * The table itself or one of its indexes, which SQLite can read in the order of `columns`. At the end of an index's
 * columns comes the rowid or primary key, which SQLite appends.
 */
interface Walk {
  readonly index: CatalogIndex | null;
  readonly columns: readonly { readonly name: string; readonly descending: boolean }[];
  /** How many of `columns`, from the first, SQLite can seek by: all but those that it appends to an index. */
  readonly seekable: number;
}

function walks(physical: CatalogTable): Walk[] {
  const rowKey =
    physical.rowid === null
      ? (physical.indexes.find(({ isTable }) => isTable)?.columns ?? [])
      : [{ name: physical.rowid, descending: false }];
  const tableItself: Walk = {
    index: null,
    columns: rowKey,
    seekable: rowKey.length,
  };
  const indexes = physical.indexes
    .filter(({ isTable }) => !isTable)
    .map((index) => ({
      index,
      columns: [...index.columns, ...rowKey.filter(({ name }) => !index.columns.some((c) => c.name === name))],
      seekable: index.columns.length,
    }));
  return [tableItself, ...indexes];
}

interface RankedPath extends AccessPath {
  readonly seeks: number;
  readonly ranges: number;
  readonly unique: boolean;
}

/**
 * Returns the path of a list that reads one particular index, or the table itself. A seek by `in` reads one value after
 * the other, so its rows do not come in the order of the index. Where `seeksByIn` is false, no `in` is used to seek.
 */
function pathOf(walk: Walk, conditions: ListConditions, order: readonly OrderTerm[], seeksByIn: boolean): RankedPath {
  const served: Expression[] = [];
  const constant = new Set<string>();
  let at = 0;
  let inList = false;
  let holdsNull = false;
  for (; at < walk.seekable && !inList; at++) {
    const { name } = walk.columns[at]!;
    const equal = heldConstant(conditions, name);
    const seek = equal ?? conditions.filters.find((filter) => seeksByIn && isMembership(filter, name));
    if (seek === undefined) break;
    served.push(seek);
    if (equal === undefined) inList = true;
    else constant.add(name);
    if (equal?.kind === "is_null") holdsNull = true;
  }
  const seeks = served.length;
  if (!inList && at < walk.seekable) served.push(...ranges(conditions.filters, walk.columns[at]!.name));
  const free = order.filter(({ column }) => !constant.has(column.name));
  const whole = constant.size === walk.seekable && walk.seekable > 0;
  // `IS NULL` on a unique index finds any number of rows, because SQLite does not count NULLs as equal.
  const unique = whole && !holdsNull && (walk.index?.unique ?? true);
  return {
    ways: null,
    index: walk.index,
    steered: true,
    served,
    rest: all(conditions).filter((condition) => !served.includes(condition)),
    ordered: !inList && (unique || yieldsOrder(walk.columns.slice(at), free)),
    order: free,
    seeks,
    ranges: served.length - seeks,
    unique,
  };
}

/** Whether reading an index with these columns, forwards or backwards, gives the order asked for. */
function yieldsOrder(columns: Walk["columns"], order: readonly OrderTerm[]): boolean {
  return [false, true].some((backwards) =>
    order.every(({ column, descending }, i) => {
      const walked = columns[i];
      return walked !== undefined && walked.name === column.name && (walked.descending !== backwards) === descending;
    }),
  );
}

function rank({ unique, seeks, ordered, ranges }: RankedPath): readonly number[] {
  return [Number(unique), seeks, Number(ordered), ranges];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at === -1 ? 0 : a[at]! - b[at]!;
}

function all({ filters, rule }: ListConditions): readonly Expression[] {
  return [...filters, ...rule];
}

/**
 * Finds the condition by which a column has the same value in all rows of the list: `column = value` or
 * `column IS NULL`. Undefined where there is none.
 */
function heldConstant({ filters, rule }: ListConditions, column: string): Expression | undefined {
  return (
    filters.find((filter) => constantColumn(filter) === column) ??
    rule.find((term) => term.kind === "compare" && constantColumn(term) === column)
  );
}

/** Returns the column whose value a condition fixes, by `=` or `is null`, if an index can serve it; else null. */
export function constantColumn(condition: Expression): ColumnName | null {
  if (condition.kind === "is_null") return condition.negated ? null : soughtColumn(condition.value);
  if (condition.kind !== "compare" || condition.operator !== "=") return null;
  const { left, right } = condition;
  if ([left, right].some((operand) => operand.kind === "column" && operand.asShown)) return null;
  if (isConstant(right)) return soughtColumn(left);
  return isConstant(left) ? soughtColumn(right) : null;
}

/** Returns the column of the row that an operand names, if an index on it can be used; else null. */
function soughtColumn(operand: Operand): ColumnName | null {
  return operand.kind === "column" && operand.source === "row" && !operand.asShown ? operand.column : null;
}

function isConstant(operand: Operand): boolean {
  return operand.kind === "given" || (operand.kind === "literal" && operand.value !== null);
}

function isMembership(condition: Expression, column: string): boolean {
  return condition.kind === "in_given" && soughtColumn(condition.value) === column;
}

/**
 * Returns the column of the row that a condition bounds, and from which side: from `below` by `>` or `>=`, from `above`
 * by `<` or `<=`. Null where the condition sets no bound.
 */
export function boundOf(
  condition: Expression,
): { readonly column: ColumnName; readonly from: "below" | "above" } | null {
  if (condition.kind !== "compare" || !isConstant(condition.right)) return null;
  const column = soughtColumn(condition.left);
  if (column === null || condition.operator === "=" || condition.operator === "!=") return null;
  return { column, from: condition.operator.startsWith(">") ? "below" : "above" };
}

/** Finds the first lower and the first upper bound of a column: SQLite seeks by one of each at most. */
function ranges(filters: readonly Expression[], column: string): readonly Expression[] {
  const bound = (from: "below" | "above") =>
    filters.find((filter) => {
      const found = boundOf(filter);
      return found?.column === column && found.from === from;
    });
  return [bound("below"), bound("above")].filter((filter) => filter !== undefined);
}
