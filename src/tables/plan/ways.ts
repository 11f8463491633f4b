import type { ColumnReference, Exists, Expression, InGiven, Operand } from "../../rules/ast.js";
import { branches, columnReferences, conjuncts, existsIn } from "../../rules/walk.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import { sameName } from "../../schema/physical/physical.js";
import { binary } from "../../sqlite/column-type.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";

/**
 * An index walk to rows of a table from a value that is known before any row is read, such as the caller's id: from the
 * value to rows of other tables by indexes, and from these to the listed table (docs/reference/http.md#ways).
 */
export interface Way {
  /** The value that the way begins with; for an `in` of a filter, each of the values in its list. */
  readonly from: Operand | InGiven;
  /** The tables between the value and the listed table; none where that has a column that equals the value. */
  readonly hops: readonly Hop[];
  /** The column of the listed table in which the value at the end of the way is looked up. */
  readonly column: ColumnName;
}

/** A table that a way passes: its rows are found by one column, and another column leads on. */
export interface Hop {
  readonly table: TableName;
  readonly alias: string;
  /**
   * The column by which rows of this table are found. It equals the value that the way begins with, or the column of
   * the table before that leads on.
   */
  readonly by: ColumnName;
  /** An index that begins with the column `by`; null where that is the rowid, or the table itself is sorted by it. */
  readonly index: CatalogIndex | null;
  /** Further conditions that a row of this table has to pass. They name no other row. */
  readonly tests: readonly Expression[];
  /** The column whose value leads on to the next table. */
  readonly key: ColumnName;
}

/** Ways that together lead to every row for which a rule is TRUE. */
export interface Ways {
  readonly ways: readonly Way[];
  /** The terms of the rule that still have to be tested: not all rows that the ways lead to pass them. */
  readonly rest: readonly Expression[];
}

/**
 * The ways to the rows for which all terms of a rule are TRUE; null where there are none that begin with a known value
 * and lead on by indexes. One term that has ways is enough: the others are tests of the rows that it leads to. A term
 * with `or` has ways where each of its branches has one, and these are not too many. An `or` further inside, also one
 * within an `exists`, is taken apart where no way leads to all of its branches.
 */
export function waysTo(table: TableName, terms: readonly Expression[], catalog: Catalog): Ways | null {
  const physical = catalog.tables.get(table);
  if (physical === undefined) return null;
  const found = terms.flatMap((term) => {
    const reached = reachEach(branches(term), { source: "row", physical }, catalog);
    if (reached === null) return [];
    // The longest way comes first, because as a rule it leads to the most rows. Rows of the first way need no test,
    // whereas each row of a later way is tested for whether an earlier way has led to it.
    const each = reached.toSorted((a, b) => b.way.hops.length - a.way.hops.length);
    const isDecided = each.every(({ left }) => left.length === 0);
    return [{ ways: each.map(({ way }) => way), rest: terms.filter((other) => !isDecided || other !== term) }];
  });
  return found.length === 0 ? null : found.reduce((best, other) => (hopsOf(other) < hopsOf(best) ? other : best));
}

/** How many ways a list takes at most, because its statement grows faster than their number. */
const waysMax = 16;

function hopsOf({ ways }: Ways): number {
  return ways.reduce((sum, { hops }) => sum + hops.length, ways.length);
}

/** How many times an `or` inside of a condition is taken apart at most. */
const splitsMax = 64;

/** The ways to the rows for which one of the alternatives is TRUE; null where one has none, or there are too many. */
function reachEach(
  alternatives: readonly Expression[],
  target: Target,
  catalog: Catalog,
  splits = { left: splitsMax },
): readonly Reach[] | null {
  const all: Reach[] = [];
  for (const alternative of alternatives) {
    const whole = reach(conjuncts(alternative), target, catalog);
    const reached = whole === null ? reachParts(alternative, target, catalog, splits) : [whole];
    if (reached === null) return null;
    all.push(...reached);
    if (all.length > waysMax) return null;
  }
  return all;
}

/** The ways to the rows for which a condition is TRUE, each to one of the alternatives that it has inside. */
function reachParts(
  condition: Expression,
  target: Target,
  catalog: Catalog,
  splits: { left: number },
): readonly Reach[] | null {
  for (const alternatives of splitsOf(condition)) {
    if (splits.left-- <= 0) return null;
    const reached = reachEach(alternatives, target, catalog, splits);
    if (reached !== null) return reached;
  }
  return null;
}

/**
 * The ways to write a condition as alternatives, one of which is TRUE where the condition is: `a and (b or c)` as
 * `a and b`, `a and c`, and `exists(t where a and (b or c))` as two `exists`. An `exists` that only another one inside
 * of it relates to other rows is turned inside out.
 */
function splitsOf(condition: Expression): readonly (readonly Expression[])[] {
  const terms = conjuncts(condition);
  return terms.flatMap((term) =>
    partsOf(term).map((parts) => parts.map((part) => allOf(terms.map((other) => (other === term ? part : other))))),
  );
}

function partsOf(term: Expression): readonly (readonly Expression[])[] {
  if (term.kind === "or") return [branches(term)];
  if (term.kind !== "exists") return [];
  const turned = turnedOf(term).map((each) => [each]);
  return [...turned, ...splitsOf(term.where).map((split) => split.map((where) => ({ ...term, where })))];
}

/** `exists(a where p and exists(b where q and r))` as `exists(b where q and exists(a where p and r))`; `r` names `a`. */
function turnedOf(outer: Exists): readonly Exists[] {
  const conditions = conjuncts(outer.where);
  return conditions.flatMap((inner) => {
    const others = conditions.filter((other) => other !== inner);
    if (inner.kind !== "exists" || !others.every((other) => isLocal(other, outer.alias))) return [];
    const names = (condition: Expression) =>
      columnReferences(condition).some(({ source }) => typeof source === "object" && source.alias === outer.alias);
    const [near, far] = [conjuncts(inner.where).filter(names), conjuncts(inner.where).filter((each) => !names(each))];
    return [{ ...inner, where: allOf([...far, { ...outer, where: allOf([...others, ...near]) }]) }];
  });
}

function allOf(terms: readonly Expression[]): Expression {
  return { kind: "and", terms };
}

/** The row that a way is to reach: the listed one, or that of an `exists`. */
interface Target {
  readonly source: ColumnReference["source"];
  readonly physical: CatalogTable;
}

interface Reach {
  readonly way: Way;
  /** The conditions that still have to be tested: not all rows that the way leads to pass them. */
  readonly left: readonly Expression[];
}

/**
 * Finds the way to the rows of a target for which all conditions are TRUE: by a column that equals a known value, else
 * by an `exists` whose own rows can be reached. Null where there is none.
 */
function reach(conditions: readonly Expression[], target: Target, catalog: Catalog): Reach | null {
  for (const condition of conditions) {
    const from = equalValue(condition, target);
    if (from !== null) return { way: { ...from, hops: [] }, left: conditions.filter((other) => other !== condition) };
  }
  for (const condition of conditions) {
    if (condition.kind !== "exists") continue;
    const through = reachThrough(condition, target, catalog);
    if (through === null) continue;
    const left = conditions.filter((other) => other !== condition || !through.isDecided);
    return { way: through.way, left };
  }
  return null;
}

function reachThrough(
  exists: Exists,
  target: Target,
  catalog: Catalog,
): { readonly way: Way; readonly isDecided: boolean } | null {
  if (exists.table === "$users") return null;
  const physical = catalog.tables.get(exists.table);
  if (physical === undefined) return null;
  const own: Target = { source: { alias: exists.alias }, physical };
  const conditions = conjuncts(exists.where);
  for (const condition of conditions) {
    const link = linkOf(condition, own, target);
    if (link === null) continue;
    const others = conditions.filter((other) => other !== condition);
    const reached = reach(others, own, catalog);
    if (reached === null) continue;
    const by = reached.way.column;
    const tests = reached.left.filter((test) => isLocal(test, exists.alias));
    const hop: Hop = {
      table: exists.table,
      alias: exists.alias,
      by,
      index: indexOf(physical, by, link.key),
      tests,
      key: link.key,
    };
    return {
      way: { from: reached.way.from, hops: [...reached.way.hops, hop], column: link.column },
      isDecided: tests.length === reached.left.length,
    };
  }
  return null;
}

/**
 * The column of the target that a condition says equals a known value, together with this value. Null where the
 * condition says no such thing, or no index begins with the column.
 */
function equalValue(condition: Expression, target: Target): Pick<Way, "from" | "column"> | null {
  if (condition.kind === "in_given") return listedValues(condition, target);
  if (condition.kind !== "compare" || condition.operator !== "=") return null;
  const { left, right } = condition;
  const [own, from] = isColumnOf(left, target) ? [left, right] : [right, left];
  if (!isColumnOf(own, target) || !isKnown(from) || !isSought(own.column, target.physical)) return null;
  return { from, column: own.column };
}

/**
 * The column of the target that an `in` condition compares with a list of values, together with this list. Null where
 * the condition compares no column of the target, no index begins with the column, or two values of the list may find
 * the same row.
 */
function listedValues(condition: InGiven, target: Target): Pick<Way, "from" | "column"> | null {
  const { value } = condition;
  const isOwn = isColumnOf(value, target) && target.physical.exactColumns.has(value.column);
  return isOwn && isSought(value.column, target.physical) ? { from: condition, column: value.column } : null;
}

function isKnown(operand: Operand): boolean {
  return operand.kind === "given" || (operand.kind === "literal" && operand.value !== null);
}

/**
 * The columns that an equality compares, one of the row `own` and one of the target. Null unless an index of the target
 * begins with its column, and the two columns have the same collation and affinity: only then does looking up the
 * values of the first column find the same rows as the comparison.
 */
function linkOf(
  condition: Expression,
  own: Target,
  target: Target,
): { readonly key: ColumnName; readonly column: ColumnName } | null {
  if (condition.kind !== "compare" || condition.operator !== "=") return null;
  const { left, right } = condition;
  const [key, column] = isColumnOf(left, own) ? [left, right] : [right, left];
  if (!isColumnOf(key, own) || !isColumnOf(column, target)) return null;
  const isAlike =
    sameName(collationOf(own, key.column), collationOf(target, column.column)) &&
    own.physical.affinities.get(key.column) === target.physical.affinities.get(column.column);
  return isAlike && isSought(column.column, target.physical) ? { key: key.column, column: column.column } : null;
}

function collationOf({ physical }: Target, column: string): string {
  return physical.collations.get(column) ?? binary;
}

function isColumnOf(operand: Operand, { source }: Target): operand is ColumnReference {
  if (operand.kind !== "column" || operand.asShown) return false;
  return typeof source === "object"
    ? typeof operand.source === "object" && operand.source.alias === source.alias
    : operand.source === source;
}

/** Whether a table can be searched by a column: it is the rowid, or an index begins with it. */
function isSought(column: string, { rowid, indexes }: CatalogTable): boolean {
  return column === rowid || indexes.some(({ columns }) => columns[0]?.name === column);
}

/** An index that begins with the column, preferably one that goes on with `key`; null for the table itself. */
function indexOf({ rowid, indexes }: CatalogTable, column: string, key: string): CatalogIndex | null {
  if (column === rowid) return null;
  const fitting = indexes.filter(({ columns }) => columns[0]?.name === column);
  const best = fitting.find(({ columns, isTable }) => isTable || columns[1]?.name === key) ?? fitting[0]!;
  return best.isTable ? null : best;
}

/** Whether a condition names no rows but that of the alias and those of `exists` inside of the condition. */
function isLocal(condition: Expression, alias: string): boolean {
  const inner = new Set([alias, ...existsIn(condition).map((exists) => exists.alias)]);
  return columnReferences(condition).every(({ source }) => typeof source === "object" && inner.has(source.alias));
}
