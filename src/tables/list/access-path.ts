import type { Table } from "../../project/model.js";
import type { Expression, Operand } from "../../rules/ast.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import type { OrderTerm } from "./order.js";
import { isRange, type PlannedFilter } from "./planned-filter.js";

/** One term of the conjunction that a row has to pass: the caller's filter, or a conjunct of the rule. */
export type Condition =
  | { readonly kind: "filter"; readonly filter: PlannedFilter }
  | { readonly kind: "rule"; readonly expression: Expression };

/** How the rows of a list are reached. The rows that the served conditions select are the candidates. */
export interface AccessPath {
  /** The index that is walked; null: the table itself, in the order of its rowid or primary key. */
  readonly index: CatalogIndex | null;
  /** False for virtual tables, which no hint can steer. */
  readonly steered: boolean;
  /** Conditions that the walk itself selects by. */
  readonly served: readonly Condition[];
  /** Conditions that each candidate is judged by. */
  readonly rest: readonly Condition[];
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
  conditions: readonly Condition[],
  order: readonly OrderTerm[],
  orderedOnly: boolean,
): AccessPath {
  const physical = catalog.tables.get(table.name);
  if (table.virtual || physical === undefined)
    return { index: null, steered: false, served: [], rest: conditions, ordered: false, order };
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
  conditions: readonly Condition[],
  order: readonly OrderTerm[],
  seeksByIn: boolean,
): RankedPath {
  const served: Condition[] = [];
  const constant = new Set<string>();
  let at = 0;
  let inList = false;
  let holdsNull = false;
  for (; at < walk.seekable && !inList; at++) {
    const { name } = walk.columns[at]!;
    const equal = conditions.find((condition) => equality(condition)?.column === name);
    const seek = equal ?? conditions.find((condition) => seeksByIn && isMembership(condition, name));
    if (seek === undefined) break;
    served.push(seek);
    if (equal === undefined) inList = true;
    else constant.add(name);
    if (equal !== undefined && equality(equal)!.isNull) holdsNull = true;
  }
  const seeks = served.length;
  if (!inList && at < walk.seekable) served.push(...ranges(conditions, walk.columns[at]!.name));
  const free = order.filter(({ column }) => !constant.has(column.name));
  const whole = constant.size === walk.seekable && walk.seekable > 0;
  // A unique index holds any number of NULLs.
  const unique = whole && !holdsNull && (walk.index?.unique ?? true);
  return {
    index: walk.index,
    steered: true,
    served,
    rest: conditions.filter((condition) => !served.includes(condition)),
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

/** The column that a condition holds constant, and whether it is NULL then. */
export function equality(condition: Condition): { readonly column: string; readonly isNull: boolean } | null {
  if (condition.kind === "filter") {
    const { filter } = condition;
    if (filter.asShown) return null;
    if (filter.operator === "eq") return { column: filter.column.name, isNull: false };
    return filter.operator === "is_null" && filter.value
      ? { column: filter.column.name, isNull: true }
      : null;
  }
  const { expression } = condition;
  if (expression.kind !== "compare" || expression.operator !== "=") return null;
  const { left, right } = expression;
  if ([left, right].some((operand) => operand.kind === "column" && operand.asShown)) return null;
  if (left.kind === "column" && left.source === "row" && isConstant(right))
    return { column: left.column, isNull: false };
  if (right.kind === "column" && right.source === "row" && isConstant(left))
    return { column: right.column, isNull: false };
  return null;
}

function isConstant(operand: Operand): boolean {
  return operand.kind === "given" || (operand.kind === "literal" && operand.value !== null);
}

function isMembership(condition: Condition, column: string): boolean {
  return (
    condition.kind === "filter" &&
    condition.filter.operator === "in" &&
    !condition.filter.asShown &&
    condition.filter.column.name === column
  );
}

/** At most one lower and one upper bound of the column: more of them do not narrow a seek. */
function ranges(conditions: readonly Condition[], column: string): readonly Condition[] {
  const bounds = conditions.filter(
    (condition) =>
      condition.kind === "filter" &&
      condition.filter.column.name === column &&
      !condition.filter.asShown &&
      isRange(condition.filter.operator),
  );
  const isLower = (condition: Condition) =>
    condition.kind === "filter" && condition.filter.operator.startsWith("g");
  return [bounds.find(isLower), bounds.find((condition) => !isLower(condition))].filter(
    (c) => c !== undefined,
  );
}
