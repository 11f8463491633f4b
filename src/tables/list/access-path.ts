import type { Table } from "../../project/model.js";
import type { Expression, Operand } from "../../rules/ast.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { OrderTerm } from "./order.js";

/**
 * All that a row has to pass. The two are told apart where a way to the rows is chosen: filters steer it by equalities,
 * null tests, lists and ranges, the terms of the rule by equalities alone.
 */
export interface Conditions {
  /** The caller's. */
  readonly filters: readonly Expression[];
  /** The conjuncts of the rule that name a column of the row. */
  readonly rule: readonly Expression[];
}

/** How the rows of a list are reached. The rows that the served conditions select are the candidates. */
export interface AccessPath {
  /** The index that is walked; null: the table itself, in the order of its rowid or primary key. */
  readonly index: CatalogIndex | null;
  /** False for virtual tables, which no hint can steer. */
  readonly steered: boolean;
  /** Conditions that the walk itself selects by. */
  readonly served: readonly Expression[];
  /** Conditions that each candidate is judged by. */
  readonly rest: readonly Expression[];
  /** Whether candidates come in the order asked for, so that a page need not examine all of them. */
  readonly ordered: boolean;
  /** The order without the columns that an equality holds constant. */
  readonly order: readonly OrderTerm[];
}

/** Candidates come in order, and each of them is authorized. */
export function isUnjudged({ ordered, rest }: AccessPath): boolean {
  return ordered && rest.length === 0;
}

/**
 * Chooses by the schema alone, so that the same request always takes the same path: first the path by which most
 * equalities are served, then one that yields the order asked for, then one that serves a range. `orderedOnly` wants
 * one that yields the order, if there is any, whatever it serves.
 */
export function chooseAccessPath(
  table: Table,
  catalog: Catalog,
  conditions: Conditions,
  order: readonly OrderTerm[],
  orderedOnly: boolean,
): AccessPath {
  const physical = catalog.tables.get(table.name);
  if (table.virtual || physical === undefined)
    return { index: null, steered: false, served: [], rest: all(conditions), ordered: false, order };
  const paths = walks(physical).map((walk) => pathOf(walk, conditions, order, !orderedOnly));
  const candidates = orderedOnly ? paths.filter(({ ordered }) => ordered) : paths;
  return (candidates.length > 0 ? candidates : paths).reduce((best, path) =>
    compareRanks(rank(path), rank(best)) > 0 ? path : best,
  );
}

/** A b-tree that can be walked: its columns in order. Past the last one come the columns that SQLite appends. */
interface Walk {
  readonly index: CatalogIndex | null;
  readonly columns: readonly { readonly name: string; readonly descending: boolean }[];
  /** How many of the columns an equality can seek by. */
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
      columns: [
        ...index.columns,
        ...rowKey.filter(({ name }) => !index.columns.some((c) => c.name === name)),
      ],
      seekable: index.columns.length,
    }));
  return [tableItself, ...indexes];
}

interface RankedPath extends AccessPath {
  readonly seeks: number;
  readonly ranges: number;
  readonly unique: boolean;
}

/** A walk that `in` seeks by goes from value to value, and so keeps no order. */
function pathOf(
  walk: Walk,
  conditions: Conditions,
  order: readonly OrderTerm[],
  seeksByIn: boolean,
): RankedPath {
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
  // A unique index holds any number of NULLs.
  const unique = whole && !holdsNull && (walk.index?.unique ?? true);
  return {
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

/** Walked forwards or backwards, do these columns give that order? */
function yieldsOrder(columns: Walk["columns"], order: readonly OrderTerm[]): boolean {
  return [false, true].some((backwards) =>
    order.every(({ column, descending }, i) => {
      const walked = columns[i];
      return (
        walked !== undefined &&
        walked.name === column.name &&
        (walked.descending !== backwards) === descending
      );
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

function all({ filters, rule }: Conditions): readonly Expression[] {
  return [...filters, ...rule];
}

/** The condition that holds a column constant, if there is one. */
function heldConstant({ filters, rule }: Conditions, column: string): Expression | undefined {
  return (
    filters.find((filter) => constantColumn(filter) === column) ??
    rule.find((term) => term.kind === "compare" && constantColumn(term) === column)
  );
}

/** The column of the row that a condition holds constant, at a value or at NULL; null where it holds none. */
export function constantColumn(condition: Expression): ColumnName | null {
  if (condition.kind === "is_null") return condition.negated ? null : soughtColumn(condition.value);
  if (condition.kind !== "compare" || condition.operator !== "=") return null;
  const { left, right } = condition;
  if ([left, right].some((operand) => operand.kind === "column" && operand.asShown)) return null;
  if (isConstant(right)) return soughtColumn(left);
  return isConstant(left) ? soughtColumn(right) : null;
}

/** The column of the row that an operand is, where an index on it can be sought by. */
function soughtColumn(operand: Operand): ColumnName | null {
  return operand.kind === "column" && operand.source === "row" && !operand.asShown ? operand.column : null;
}

function isConstant(operand: Operand): boolean {
  return operand.kind === "given" || (operand.kind === "literal" && operand.value !== null);
}

function isMembership(condition: Expression, column: string): boolean {
  return condition.kind === "in_given" && soughtColumn(condition.value) === column;
}

/** The bound that a condition sets to a column of the row: from below (`>`, `>=`) or from above. Null where it sets none. */
export function boundOf(
  condition: Expression,
): { readonly column: ColumnName; readonly from: "below" | "above" } | null {
  if (condition.kind !== "compare" || !isConstant(condition.right)) return null;
  const column = soughtColumn(condition.left);
  if (column === null || condition.operator === "=" || condition.operator === "!=") return null;
  return { column, from: condition.operator.startsWith(">") ? "below" : "above" };
}

/** At most one lower and one upper bound of the column: more of them do not narrow a seek. */
function ranges(filters: readonly Expression[], column: string): readonly Expression[] {
  const bound = (from: "below" | "above") =>
    filters.find((filter) => {
      const found = boundOf(filter);
      return found?.column === column && found.from === from;
    });
  return [bound("below"), bound("above")].filter((filter) => filter !== undefined);
}
