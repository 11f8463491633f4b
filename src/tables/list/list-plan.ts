import type { SqlValue } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression, Given, Literal, Operand } from "../../rules/ast.js";
import { alwaysTrue, whenTrue } from "../../rules/fold.js";
import { hangsOnGiven } from "../../rules/specialise.js";
import { columnsOf, conjuncts, mapOperands, mentionsRow, substitute } from "../../rules/walk.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Access } from "../access.js";
import { asShown } from "../as-shown.js";
import { readsAsNumber } from "../numeric-text.js";
import type { SlotValues } from "../sql/fragment.js";
import { type AccessPath, chooseAccessPath } from "./access-path.js";
import type { ListRequest, SortTerm } from "./list-request.js";
import { type Key, totalOrder } from "./order.js";

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

/**
 * Plans a page under `rule`, which is what `ruleBeside` or `openRuleBeside` made of the caller's. `context` is kept: it holds
 * nothing that is this request's alone.
 */
export function planList(
  table: Table,
  rule: Expression,
  filters: readonly Expression[],
  sort: readonly SortTerm[],
  context: Pick<ListPlan, "catalog" | "scanLimit" | "metered" | "output" | "window" | "orderedOnly">,
): ListPlan {
  const physical = context.catalog.tables.get(table.name);
  const terms = conjuncts(rule).filter((term) => !alwaysTrue(term));
  const path = chooseAccessPath(
    table,
    context.catalog,
    { filters, rule: terms.filter((term) => mentionsRow(term, "row")) },
    totalOrder(table, sort, physical),
    context.orderedOnly,
  );
  return {
    ...context,
    table,
    path,
    grouping: groupingOf(path, context.window, physical),
    gates: terms.filter((term) => !mentionsRow(term, "row")),
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
export function columnsJudged(conditions: readonly Expression[]): ReadonlySet<ColumnName> {
  return new Set(conditions.flatMap((condition) => [...columnsOf(condition, "row")]));
}

/**
 * The rule beside the caller's filters, whose equalities are carried into it: an `exists` that no longer depends on the row
 * is decided once. What they compare with is given later; null where that would decide something, as in a comparison with a
 * literal.
 */
export function openRuleBeside(
  { filters, filterValues }: ListRequest,
  { table, rule, catalog }: ListedAccess,
): Expression | null {
  // Another table's column may hold a number.
  const isTakenForNumber =
    catalog.hasMixedTexts && [...filterValues.values()].some((value) => readsAsNumber(String(value)));
  const known = equalities(filters, filterValues, catalog.tables.get(table.name));
  const open = withKnownColumns(rule, known);
  return open !== rule && (isTakenForNumber || hangsOnGiven(open)) ? null : open;
}

/** The same for these very filters and this very caller. */
export function ruleBeside(
  { filters, filterValues }: ListRequest,
  { table, rule, catalog }: ListedAccess,
  values: SlotValues,
): Expression {
  const closed = mapOperands(rule, (operand) =>
    operand.kind === "given" ? literalOf(values.get(operand.name)!) : operand,
  );
  const known = equalities(filters, filterValues, catalog.tables.get(table.name));
  const literals = [...known].map(([column, { name }]) => {
    const value = filterValues.get(name)!;
    const isBoolean = table.columns.get(column)!.type === "boolean";
    return [column, literalOf(isBoolean ? value === 1n : value)] as const;
  });
  return asShown(withKnownColumns(closed, new Map(literals)), table.name, catalog);
}

type ListedAccess = Pick<Access, "table" | "rule" | "catalog">;

/** Of what rules compare: no blobs. */
function literalOf(value: SqlValue | boolean): Literal {
  return { kind: "literal", value: value as Literal["value"] };
}

/**
 * The columns that filters hold equal to something, where equal means the same: by NOCASE a filter for `A` finds `a`, of
 * which the rule may think otherwise.
 */
function equalities(
  filters: readonly Expression[],
  filterValues: ListRequest["filterValues"],
  physical: CatalogTable | undefined,
): ReadonlyMap<string, Given> {
  const known = new Map<string, Given>();
  for (const filter of filters) {
    if (filter.kind !== "compare" || filter.operator !== "=") continue;
    const { left, right } = filter;
    if (left.kind !== "column" || right.kind !== "given") continue;
    if (typeof filterValues.get(right.name) === "object" || !physical?.exactColumns.has(left.column))
      continue;
    known.set(left.column, right);
  }
  return known;
}

function withKnownColumns(rule: Expression, known: ReadonlyMap<string, Operand>): Expression {
  if (known.size === 0) return rule;
  return whenTrue(
    substitute(rule, (reference) => (reference.source === "row" && known.get(reference.column)) || reference),
  );
}
