import { type QueryParameter, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { Column } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import type { AggregateFunction, ListParameter } from "../../wire/list-query.js";
import { isExpansion } from "./expand.js";
import { columnOf } from "./filters.js";
import { type Incomparable, type ListRequest, parseListRequest } from "./list-request.js";

/**
 * A parsed aggregate request (`docs/reference/http.md#aggregates`): the names in it were resolved to columns, and its
 * values converted to the types of their columns.
 */
export interface AggregateRequest extends Pick<ListRequest, "filters" | "filterValues" | "limit" | "counts"> {
  /** The columns to group by; without columns all rows are one group. */
  readonly groups: readonly Column[];
  readonly results: readonly AggregateResult[];
  /** The order of the groups: the terms of `sort`, then the group columns that it does not name, ascending. */
  readonly order: readonly AggregateOrderTerm[];
}

/** One result that is computed from the rows of a group, such as a sum. */
export interface AggregateResult {
  /** The name that the result has in the answer, such as `sum_cents`. */
  readonly name: string;
  readonly compute: AggregateFunction;
  /** The column that the function computes from; null for `count=*`, which counts rows. */
  readonly column: Column | null;
}

/** One term of the order of groups: the group column or the result that they are ordered by. */
export interface AggregateOrderTerm {
  /** What the term orders by: a position in the list of all group columns and then all results. */
  readonly at: number;
  readonly descending: boolean;
}

const groupColumnsMax = 8;
const resultsMax = 16;

const comparable: readonly ColumnType[] = ["integer", "real", "text", "boolean", "blob"];
const numeric: readonly ColumnType[] = ["integer", "real"];

/** Which parameters of lists an aggregate takes, too. */
const isTaken: Readonly<Record<ListParameter, boolean>> = {
  where: true,
  filter: true,
  sort: true,
  limit: true,
  total: true,
  cursor: true,
  select: false,
  search: false,
  expand: false,
  offset: false,
};
/** Whether a parameter is refused because it belongs to lists alone. */
const isOfRows = (name: string) =>
  isExpansion(name) || (Object.hasOwn(isTaken, name) && !isTaken[name as ListParameter]);

/** For each aggregate function, the types of the columns that it can be applied to. */
const takes: Readonly<Record<AggregateFunction, readonly ColumnType[]>> = {
  count: [...comparable, "json"],
  count_distinct: comparable,
  sum: numeric,
  avg: numeric,
  min: comparable,
  max: comparable,
};

const isFunction = (name: string): name is AggregateFunction => Object.hasOwn(takes, name);

/**
 * Parses the query parameters of an aggregate request. `readable` has only the columns that the caller may read: any
 * other name gets the same refusal, whether such a column exists or not.
 */
export function parseAggregateRequest(
  parameters: readonly QueryParameter[],
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
): AggregateRequest | Refusal {
  const results: AggregateResult[] = [];
  let groups: readonly Column[] = [];
  let sort = "";
  const others: QueryParameter[] = [];
  for (const parameter of parameters) {
    const [name, text] = parameter;
    if (isFunction(name)) {
      const parsed = parseResults(name, text, readable, incomparable);
      if (isRefusal(parsed)) return parsed;
      results.push(...parsed);
    } else if (name === "group") {
      const parsed = parseGroups(text, readable, incomparable);
      if (isRefusal(parsed)) return parsed;
      groups = parsed;
    } else if (name === "sort") sort = text;
    else if (isOfRows(name)) return badRequest(`unknown parameter ${quoted(name)}`);
    else others.push(parameter);
  }
  if (groups.length + results.length === 0)
    return badRequest("nothing to aggregate: count=* counts rows, and group=… lists the groups");
  if (groups.length > groupColumnsMax) return badRequest(`group: more than ${groupColumnsMax} columns`);
  if (results.length > resultsMax) return badRequest(`more than ${resultsMax} results`);
  const names = [...groups, ...results].map(({ name }) => name as string);
  const doubled = names.find((name, i) => names.indexOf(name) < i);
  if (doubled !== undefined) return badRequest(`two members of the answer would be called ${quoted(doubled)}`);
  const order = parseOrder(parameters.some(([name]) => name === "sort") ? sort : null, names, groups.length);
  if (isRefusal(order)) return order;
  const list = parseListRequest(others, readable, incomparable);
  if (isRefusal(list)) return list;
  const { filters, filterValues, limit, counts } = list;
  return { filters, filterValues, limit, counts, groups, results, order };
}

function parseResults(
  compute: AggregateFunction,
  text: string,
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
): readonly AggregateResult[] | Refusal {
  const results: AggregateResult[] = [];
  for (const part of text.split(",")) {
    if (compute === "count" && part === "*") {
      results.push({ name: "count", compute, column: null });
      continue;
    }
    const column = columnOf(part, readable);
    if (isRefusal(column)) return column;
    if (!takes[compute].includes(column.type))
      return badRequest(`${compute}: ${column.name} is a ${column.type} column`);
    const refusal = compute === "count_distinct" ? notComparable(compute, column, incomparable) : null;
    if (refusal !== null) return refusal;
    results.push({ name: `${compute}_${column.name}`, compute, column });
  }
  return results;
}

function parseGroups(
  text: string,
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
): readonly Column[] | Refusal {
  const groups: Column[] = [];
  for (const part of text.split(",")) {
    const column = columnOf(part, readable);
    if (isRefusal(column)) return column;
    if (column.type === "json") return badRequest(`group: ${column.name} is a json column`);
    const refusal = notComparable("group", column, incomparable);
    if (refusal !== null) return refusal;
    groups.push(column);
  }
  return groups;
}

function notComparable(parameter: string, { name }: Column, incomparable: Incomparable): Refusal | null {
  return incomparable.has(name)
    ? badRequest(`${parameter}: ${name} cannot be compared, as the server lacks its collation`)
    : null;
}

/**
 * Parses the order of an aggregate's groups. `text` is the value of the parameter `sort`, null where it is not given.
 * `names` has what groups can be ordered by: the names of the `groupCount` group columns, followed by those of the
 * results. Group columns that `sort` does not name are added at the end, ascending.
 */
function parseOrder(
  text: string | null,
  names: readonly string[],
  groupCount: number,
): readonly AggregateOrderTerm[] | Refusal {
  const terms: AggregateOrderTerm[] = [];
  for (const part of text === null ? [] : text.split(",")) {
    const descending = part.startsWith("-");
    const name = descending ? part.slice(1) : part;
    const at = names.indexOf(name);
    if (at === -1) return badRequest(`sort: ${quoted(name)} is neither a group nor a result`);
    if (terms.some((term) => term.at === at)) return badRequest(`sort: ${name} is named twice`);
    terms.push({ at, descending });
  }
  for (let at = 0; at < groupCount; at++)
    if (!terms.some((term) => term.at === at)) terms.push({ at, descending: false });
  return terms;
}
