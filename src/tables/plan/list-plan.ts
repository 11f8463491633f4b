import type { SqlValue } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression, Given, Literal, Operand } from "../../rules/ast.js";
import { alwaysTrue, whenTrue } from "../../rules/fold.js";
import { dependsOnPlaceholder } from "../../rules/specialise.js";
import { columnsOf, conjuncts, mapOperands, mentionsRow, substitute, walk } from "../../rules/walk.js";
import type { Catalog, CatalogIndex, CatalogTable } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Access } from "../access/access.js";
import { asShown } from "../access/as-shown.js";
import { readsAsNumber } from "../access/numeric-text.js";
import type { ListRequest, SortTerm } from "../request/list-request.js";
import type { SlotValues } from "../sql-text/fragment.js";
import { type AccessPath, chooseAccessPath, type ListConditions, pathByWays, seeksByRequest } from "./access-path.js";
import type { ExpansionStep } from "./expansion.js";
import { type Match, matchedPath, rankTerms } from "./match.js";
import { type Key, type OrderTerm, totalOrder } from "./order.js";
import { type Ways, waysTo } from "./ways.js";

/** How a page is read: everything that its SQL depends on. Equal plans give the same text. */
export interface ListPlan {
  readonly table: Table;
  readonly catalog: Catalog;
  readonly path: AccessPath;
  /** The parts of the read rule that name no column of the row: they are decided once for the whole list. */
  readonly gates: readonly Expression[];
  readonly output: readonly Column[];
  readonly scanLimit: number;
  /**
   * Up to which number of rows, as its first and last rowid show, a table is counted as a whole. In a larger table the
   * count ends at `scanLimit`. Null for pages that are not tried in the event loop: for these other bounds apply.
   */
  readonly briefTableMax: number | null;
  /** Whether requests are metered. If so, the statement always reports how many rows it has examined. */
  readonly metered: boolean;
  /** Texts, JSON and blobs of more bytes are shown by their beginning alone; null where all values are shown whole. */
  readonly preview: number | null;
  readonly wide: WideValues;
  /** Whether the rows are for a client's copy, as in `ListRequest.copiedAs`. */
  readonly copies: boolean;
  /**
   * The statement ends with an error (`isLongValue`) at a text, JSON or blob of more bytes that it compares or sorts by;
   * null where such values may be of any length.
   */
  readonly comparedBytesMax: number | null;
  readonly window: Window;
  readonly choice: PathChoice;
  /** How candidates are counted in groups of equal ones; null where they are counted one by one. */
  readonly grouping: Grouping | null;
  /** The steps (followed references) that the expansions of each row begin with. */
  readonly expansions: readonly ExpansionStep[];
  /** The `contains` and `icontains` filters: how much text they search is measured first. */
  readonly searches: readonly TextSearch[];
  /** The full-text search that finds the candidates; null where they come from an index, the table or ways. */
  readonly match: Match | null;
  /**
   * The plan that finds the list's rows without the full-text search, by an index or ways. Where many rows match the
   * search, only those are looked for that are among the rows of this plan. Null where these would be all rows of the
   * table, where `choice` is `search`, and for a list without a full-text search.
   */
  readonly among: ListPlan | null;
}

/**
 * How the page of a list gets its texts, JSON and blobs, which may be long (docs/long-work.md#wide-rows). `carried`:
 * they are read together with the row. `short`: likewise, but at a row for which they have more bytes than its share of
 * a page, the statement ends with an error (`isLongValue`). `sought`: first their sizes are read, and they themselves
 * afterwards, for the rows that fit into the page.
 */
export type WideValues = "carried" | "short" | "sought";

/** The columns among these whose values may be long. */
export function wideIn<C extends Pick<Column, "type">>(columns: readonly C[]): readonly C[] {
  return columns.filter(({ type }) => type === "text" || type === "json" || type === "blob");
}

/**
 * Which paths of a list are considered. `best`: all of them. `ways`: those by ways, if there are any. `windows`: the
 * same, where the rows that they lead to are more than the scan limit, and so are counted window by window. `search`:
 * those by an index or the table, because the ways lead to more rows than the scan limit. `ordered`: those by an index
 * or the table that yield the order, if there are any, because the best path offers too many rows to sort.
 */
export type PathChoice = "best" | "ways" | "windows" | "search" | "ordered";

/**
 * An index that begins with all columns that the conditions test. Candidates that have the same values in these columns
 * are neighbours in the index and are tested together (`docs/reference/metering.md#what-is-counted`, "Rows judged
 * together").
 */
export interface Grouping {
  readonly index: CatalogIndex;
  readonly columns: readonly ColumnName[];
}

/**
 * The part of a list that is examined and counted as one: at most `scanLimit` candidates after the key `after`. Its
 * first page counts it. Later pages of the same window begin at the last key of the page before (keyset pagination) and
 * do not count again.
 */
export interface Window {
  readonly after: Key | null;
  /**
   * The key of the last candidate of the window, where an earlier page has counted the window and it ends before the
   * table does; else null.
   */
  readonly upTo: Key | null;
  /** Whether the window need not be counted: an earlier page has done so, or the request asks not to count. */
  readonly counted: boolean;
}

/**
 * Plans how a page of a list is read. `sort` is null where the order of the rows does not matter. `rule` is the read
 * rule, as `closedListRule` or `openListRule` returned it. The plan may be kept for other requests, so nothing in
 * `context` may belong to this request alone.
 */
export function planList(
  table: Table,
  rule: Expression,
  filters: readonly Expression[],
  sort: readonly SortTerm[] | null,
  context: Pick<
    ListPlan,
    | "catalog"
    | "scanLimit"
    | "briefTableMax"
    | "metered"
    | "preview"
    | "wide"
    | "copies"
    | "comparedBytesMax"
    | "output"
    | "window"
    | "choice"
    | "expansions"
    | "match"
  >,
): ListPlan {
  const physical = context.catalog.tables.get(table.name);
  const terms = conjuncts(rule).filter((term) => !alwaysTrue(term));
  const conditions = { filters, rule: terms.filter((term) => mentionsRow(term, "row")) };
  const order = sort === null ? [] : totalOrder(table, sort, physical);
  const { match, catalog, choice, window } = context;
  const path =
    match === null
      ? pathOf(table, catalog, conditions, order, choice)
      : matchedPath(conditions, [...rankTerms(match), ...order]);
  const plan: ListPlan = {
    ...context,
    table,
    path,
    among: null,
    grouping: groupingOf(path, window, physical),
    searches: filters.flatMap(walk).flatMap(searchOf),
    gates: terms.filter((term) => !mentionsRow(term, "row")),
  };
  if (match === null || choice === "search") return plan;
  const narrowed = pathOf(table, catalog, conditions, [], choice);
  const isWhole = narrowed.ways === null && narrowed.served.length === 0;
  return isWhole ? plan : { ...plan, among: { ...plan, match: null, path: narrowed } };
}

function pathOf(
  table: Table,
  catalog: Catalog,
  conditions: ListConditions,
  order: readonly OrderTerm[],
  choice: PathChoice,
): AccessPath {
  const path = chooseAccessPath(table, catalog, conditions, order, choice === "ordered");
  if (choice === "search" || choice === "ordered") return path;
  const physical = catalog.tables.get(table.name);
  if (physical === undefined || table.virtual) return path;
  if (choice === "best" && seeksByRequest(path, conditions)) return path;
  const ways = waysTo(table.name, conditions.rule, catalog);
  if (ways !== null && !isAlone(ways)) return pathByWays(table, physical, conditions, ways, order);
  return pathByFilters(table, physical, conditions, catalog, order) ?? path;
}

/** How many ways the filters of a list may make. With more, no ways are made of them. */
const filterWaysMax = 10;

/** Returns the path by ways that begin with the values of filters that `or` joins; null for none. */
function pathByFilters(
  table: Table,
  physical: CatalogTable,
  { filters, rule }: ListConditions,
  catalog: Catalog,
  order: readonly OrderTerm[],
): AccessPath | null {
  const joined = filters.filter(({ kind }) => kind === "or");
  const found = waysTo(table.name, joined, catalog);
  if (found === null || found.ways.length > filterWaysMax) return null;
  const others = { filters: filters.filter((filter) => !joined.includes(filter)), rule };
  const ways = { ways: found.ways, rest: [...found.rest, ...rule] };
  return pathByWays(table, physical, others, ways, order);
}

/**
 * Whether there is one way alone, and it begins at a column of the listed table itself, which equals a value. Then an
 * index finds the same rows, and no way is needed.
 */
function isAlone({ ways }: Ways): boolean {
  return ways.length === 1 && ways[0]!.hops.length === 0;
}

/** A `contains` or `icontains` filter: a column, and the text that is searched for in it. */
export interface TextSearch {
  readonly column: ColumnName;
  readonly text: Given;
}

function searchOf(node: Expression): readonly TextSearch[] {
  return (node.kind === "contains" || node.kind === "icontains") && node.value.kind === "column"
    ? [{ column: node.value.column, text: node.text }]
    : [];
}

/**
 * Decides whether the first window of a list that reads a whole table can be counted in groups of equal rows, and by
 * which index; null where it cannot.
 */
function groupingOf(
  { ways, steered, ordered, served, rest }: AccessPath,
  { after, upTo, counted }: Window,
  physical: CatalogTable | undefined,
): Grouping | null {
  const isWhole = ways === null && steered && ordered && served.length === 0 && rest.length > 0;
  if (!isWhole || after !== null || upTo !== null || counted || !physical?.rowid) return null;
  const judged = columnsJudged(rest);
  // Values of the tested columns that are equal have to be identical. Otherwise GROUP BY would put rows together for
  // which the conditions may have different results, such as those with `a` and `A` where the collation is NOCASE.
  if (![...judged].every((column) => physical.exactColumns.has(column))) return null;
  const index = physical.indexes.find(
    ({ columns, unique }) =>
      columns.length >= judged.size + Number(unique) &&
      columns.slice(0, judged.size).every(({ name }) => judged.has(name)),
  );
  if (index === undefined) return null;
  return { index, columns: [...judged] };
}

/** Returns the columns of the listed table that the conditions read. */
export function columnsJudged(conditions: readonly Expression[]): ReadonlySet<ColumnName> {
  return new Set(conditions.flatMap((condition) => [...columnsOf(condition, "row")]));
}

/**
 * Returns the read rule, in which each column that a filter holds equal to a value is replaced by the placeholder of
 * that value. An `exists` that thereby no longer depends on the row is looked up once for the list, not for every row.
 * The values are given when the statement is sent, so requests that differ only in them share the SQL. Null where they
 * cannot share it, because such a value would decide a part of the rule by itself, or might be taken for a number.
 */
export function openListRule(
  { filters, filterValues }: Filtered,
  { table, rule, catalog }: ListedAccess,
): Expression | null {
  // A placeholder cannot stand for a value that reads as a number: an `exists` may compare the value with a column of
  // another table that holds numbers where texts are expected, and SQLite may then take the text for a number.
  const isTakenForNumber =
    catalog.hasMixedTexts && [...filterValues.values()].some((value) => readsAsNumber(String(value)));
  const known = equalities(filters, filterValues, catalog.tables.get(table.name));
  const open = withKnownColumns(rule, known);
  return open !== rule && (isTakenForNumber || dependsOnPlaceholder(open)) ? null : open;
}

/**
 * Returns the read rule as `openListRule` does, but with the values of this request's filters and caller written into
 * it instead of placeholders. For requests that share no SQL.
 */
export function closedListRule(
  { filters, filterValues }: Filtered,
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

type Filtered = Pick<ListRequest, "filters" | "filterValues">;
type ListedAccess = Pick<Access, "table" | "rule" | "catalog">;

/** Makes a literal from a value of a filter or of the caller, never a blob: rules cannot compare blobs. */
function literalOf(value: SqlValue | boolean): Literal {
  return { kind: "literal", value: value as Literal["value"] };
}

/**
 * Returns the columns that filters hold equal to a value, each with the placeholder of the value. Leaves out columns in
 * which different values can be equal: where the collation is NOCASE, a filter for `A` also finds `a`, for which the
 * rule may have another outcome.
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
    if (typeof filterValues.get(right.name) === "object" || !physical?.exactColumns.has(left.column)) continue;
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
