import type { SqlValue } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression, Literal, Operand } from "../../rules/ast.js";
import { alwaysTrue, whenTrue } from "../../rules/fold.js";
import { hangsOnGiven } from "../../rules/specialise.js";
import { columnsOf, conjuncts, mapOperands, mentions, substitute } from "../../rules/walk.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";
import { asShown } from "../as-shown.js";
import { readsAsNumber } from "../numeric-text.js";
import type { GivenValues } from "../sql/fragment.js";
import { type AccessPath, type Condition, chooseAccessPath } from "./access-path.js";
import type { Comparison, Filter, ListRequest } from "./list-request.js";
import { type Key, totalOrder } from "./order.js";
import { givenFilter, plannedFilter } from "./planned-filter.js";

/** Everything that decides the SQL of one page. The same plan gives the same text. */
export interface ListPlan {
  readonly table: Table;
  readonly catalog: Catalog;
  readonly path: AccessPath;
  /** Conditions that name no column of the row: decided once, before any row is visited. */
  readonly gates: readonly Expression[];
  readonly output: readonly Column[];
  readonly scanLimit: number;
  /** Whether the statement reports what it examined. */
  readonly metered: boolean;
  readonly window: Window;
  /** The path that serves most offers too many rows to sort: another one has to yield the order. */
  readonly orderedOnly: boolean;
  /** Null: the candidates are counted one by one. */
  readonly grouping: Grouping | null;
}

/** An index that begins with all columns by which candidates are judged: those that are alike in them are judged together. */
export interface Grouping {
  readonly index: CatalogIndex;
  readonly columns: readonly ColumnName[];
}

/**
 * The part of the scan that one request examines: at most `scanLimit` candidates behind `after`. A window is counted
 * once, by the request that opens it; the pages that follow inside of it go by keyset.
 */
export interface Window {
  readonly after: Key | null;
  /** The last candidate of a counted window that ended before the table did. */
  readonly upTo: Key | null;
  readonly counted: boolean;
}

/** `readRule` is what `ruleBeside` made of it. `context` is kept: it holds nothing that is this request's alone. */
export function planList(
  table: Table,
  readRule: Expression,
  request: ListRequest,
  context: Pick<ListPlan, "catalog" | "scanLimit" | "metered" | "output" | "window" | "orderedOnly">,
): ListPlan {
  const physical = context.catalog.tables.get(table.name);
  const ruleTerms = conjuncts(readRule).filter((term) => !alwaysTrue(term));
  const conditions: Condition[] = [
    ...request.filters.map(
      (filter, i) => ({ kind: "filter", filter: plannedFilter(filter, i, physical) }) as const,
    ),
    ...ruleTerms
      .filter((term) => mentions(term, "row"))
      .map((expression) => ({ kind: "rule", expression }) as const),
  ];
  const path = chooseAccessPath(
    table,
    context.catalog,
    conditions,
    totalOrder(table, request.sort, physical),
    context.orderedOnly,
  );
  return {
    ...context,
    table,
    path,
    grouping: groupingOf(path, context.window, physical),
    gates: ruleTerms.filter((term) => !mentions(term, "row")),
  };
}

/** For the first window over a whole table. */
function groupingOf(
  { steered, ordered, served, rest }: AccessPath,
  { after, upTo, counted }: Window,
  physical: CatalogTable | undefined,
): Grouping | null {
  const isWhole = steered && ordered && served.length === 0 && rest.length > 0;
  if (!isWhole || after !== null || upTo !== null || counted || !physical?.rowid) return null;
  const judged = columnsJudged(rest);
  // In others, what is grouped may not be alike.
  if (![...judged].every((column) => physical.exactColumns.has(column))) return null;
  const index = physical.indexes.find(
    ({ columns, unique }) =>
      columns.length >= judged.size + Number(unique) &&
      columns.slice(0, judged.size).every(({ name }) => judged.has(name)),
  );
  if (index === undefined) return null;
  return { index, columns: [...judged] };
}

/** Columns of the row that conditions read. */
export function columnsJudged(conditions: readonly Condition[]): ReadonlySet<ColumnName> {
  return new Set(
    conditions.flatMap((condition) =>
      condition.kind === "filter"
        ? [condition.filter.column.name]
        : [...columnsOf(condition.expression, "row")],
    ),
  );
}

/**
 * The rule beside the caller's filters, whose equalities are carried into it: an `exists` that no longer depends on the row
 * is decided once. What they are is given later; null where that would decide something, as in a comparison with a literal.
 */
export function openRuleBeside(
  filters: readonly Filter[],
  rule: Expression,
  table: TableName,
  catalog: Catalog,
): Expression | null {
  const physical = catalog.tables.get(table);
  // Another table's column may hold a number.
  const isTakenForNumber =
    catalog.hasMixedTexts &&
    filters.some((filter) => "value" in filter && readsAsNumber(String(filter.value)));
  const open = ruleWith(filters, rule, physical, (_, i) => givenFilter(i));
  return open !== rule && (isTakenForNumber || hangsOnGiven(open)) ? null : open;
}

/** The same for these very filters and this very caller. */
export function ruleBeside(
  filters: readonly Filter[],
  rule: Expression,
  table: TableName,
  catalog: Catalog,
  given: GivenValues,
): Expression {
  const physical = catalog.tables.get(table);
  const closed = mapOperands(rule, (operand) =>
    operand.kind === "given" ? literalOf(given.get(operand.name)!) : operand,
  );
  const known = ruleWith(filters, closed, physical, ({ column, value }) =>
    literalOf(column.type === "boolean" ? value === 1n : value),
  );
  return asShown(known, table, catalog);
}

/** Of what rules compare: no blobs. */
function literalOf(value: SqlValue | boolean): Literal {
  return { kind: "literal", value: value as Literal["value"] };
}

type Equality = Extract<Filter, { readonly operator: Comparison }>;

/** Only in columns in which equal means the same: by NOCASE a filter for `A` finds `a`, of which the rule may think otherwise. */
function ruleWith(
  filters: readonly Filter[],
  rule: Expression,
  physical: CatalogTable | undefined,
  operandOf: (filter: Equality, i: number) => Operand,
): Expression {
  const constants = new Map<string, Operand>();
  filters.forEach((filter, i) => {
    if (filter.operator !== "eq" || typeof filter.value === "object") return;
    if (physical?.exactColumns.has(filter.column.name))
      constants.set(filter.column.name, operandOf(filter, i));
  });
  if (constants.size === 0) return rule;
  return whenTrue(
    substitute(
      rule,
      (reference) => (reference.source === "row" && constants.get(reference.column)) || reference,
    ),
  );
}
