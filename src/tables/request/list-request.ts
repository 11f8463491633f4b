import type { QueryParameter } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Column } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { ListParameter } from "../../wire/list-query.js";
import type { Access } from "../access/access.js";
import { addBodyFilters } from "./body-filters.js";
import { addBodyExpansions, addQueryExpansion, isExpansion, type RequestedExpansions } from "./expand.js";
import { columnOf, type FilterGroup, filtersOf, ListedValues, newGroup } from "./filters.js";
import { parseSearch, type SearchTerm } from "./parse-search.js";
import { addQueryFilter } from "./query-filters.js";
import { BodyValue, QueryValue, type RequestValue } from "./request-value.js";

/** What describes a list: the parameters of a query string, or a JSON body that says the same. */
export type ListParameters = readonly QueryParameter[] | ListBody;

/** The JSON body of a list (`docs/reference/http.md#lists-as-json`). */
export type ListBody = Readonly<Record<string, unknown>>;

/**
 * A parsed list request (`docs/reference/http.md#lists`): the names in it were resolved to columns, and its values
 * converted to the types of their columns.
 */
export interface ListRequest {
  /** The conditions that a row has to pass, all of them. They hold placeholder names; `filterValues` has the values. */
  readonly filters: readonly Expression[];
  /** The values that the filters compare with, by the placeholder names that stand for them in `filters`. */
  readonly filterValues: ReadonlyMap<string, SqlValue>;
  /** The columns that the answer has; null for every column that the caller may read. */
  readonly select: readonly Column[] | null;
  readonly sort: readonly SortTerm[];
  readonly expand: RequestedExpansions;
  readonly limit: number;
  readonly offset: number;
  /** Whether the rows of the list are counted, for `meta.total`, as far as the scan limit allows. */
  readonly counts: boolean;
  /** The terms of a full-text search; null where the request has no parameter `search`. */
  readonly search: readonly SearchTerm[] | null;
  /**
   * The name under which the rows are told for a client's copy (docs/sync.md), each with its key, and with their place in
   * the log. Null for the rows of a list's answer.
   */
  readonly copiedAs: string | null;
}

/** One term of the parameter `sort`: a column that the list is sorted by, and the direction. */
export interface SortTerm {
  readonly column: Column;
  readonly descending: boolean;
}

const limitDefault = 50;
const limitMax = 1000;
/** How many comparisons a query string may have in all its groups. An `in` is one, whatever its length. */
const filtersMax = 50;
/** How many comparisons a JSON body may have in all its groups of filters. */
const bodyFiltersMax = 200;

/**
 * Parses the query parameters or the JSON body of a list request. `readable` has only the columns that the caller may
 * read: any other name gets the same refusal, whether such a column exists or not. `listed` is given where the request
 * describes several lists.
 */
export function parseListRequest(
  parameters: ListParameters,
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
  listed = new ListedValues(),
): ListRequest | Refusal {
  return isQueryString(parameters)
    ? parsed(parameters, queryString, readable, incomparable, listed)
    : parsed(Object.entries(parameters), body, readable, incomparable, listed);
}

/** Whether the parameters of a list are those of a query string, not a body. */
function isQueryString(parameters: ListParameters): parameters is readonly QueryParameter[] {
  return Array.isArray(parameters);
}

/** A form of a list request, query string or body, in which values are texts or JSON values (`Raw`). */
interface Form<Raw> {
  readonly sent: (raw: Raw) => RequestValue;
  /**
   * Reads a parameter or member for which `parsers` has nothing, and which has to be a filter, into the group `root`.
   * Returns a refusal where it is no valid filter.
   */
  readonly addFilters: (
    root: FilterGroup,
    name: string,
    raw: Raw,
    readable: ReadonlyMap<string, Column>,
  ) => Refusal | null;
  /** Reads a parameter or member that belongs to `expand` into `asked`. Returns a refusal where it is not valid. */
  readonly addExpansion: (asked: RequestedExpansions, name: string, raw: Raw) => Refusal | null;
  readonly filtersMax: number;
}

const queryString: Form<string> = {
  sent: (text) => new QueryValue(text),
  addFilters: addQueryFilter,
  addExpansion: addQueryExpansion,
  filtersMax,
};
const body: Form<unknown> = {
  sent: (value) => new BodyValue(value),
  addFilters: addBodyFilters,
  addExpansion: addBodyExpansions,
  filtersMax: bodyFiltersMax,
};

function parsed<Raw>(
  parameters: readonly (readonly [name: string, raw: Raw])[],
  form: Form<Raw>,
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
  listed: ListedValues,
): ListRequest | Refusal {
  const root = newGroup(listed);
  const expand: RequestedExpansions = new Map();
  let request: ListParts = {
    select: null,
    sort: [],
    limit: limitDefault,
    offset: 0,
    counts: true,
    search: null,
  };
  for (const [name, raw] of parameters) {
    const parser = parsers.get(name);
    const part =
      parser !== undefined
        ? parser(form.sent(raw), readable)
        : isExpansion(name)
          ? form.addExpansion(expand, name, raw)
          : form.addFilters(root, name, raw, readable);
    if (isRefusal(part)) return part;
    request = { ...request, ...part };
  }
  const found = filtersOf(root, form.filtersMax);
  if (isRefusal(found)) return found;
  const { filters, filterValues, compared } = found;
  const sorted = request.sort.map(({ column }) => column);
  const refusal = notComparable([...compared, ...sorted], incomparable);
  return refusal ?? { ...request, filters, filterValues, expand, copiedAs: null };
}

type ListParts = Omit<ListRequest, "filters" | "filterValues" | "expand" | "copiedAs">;

/** The columns that this database cannot compare, for lack of their collation, each with the reason. */
export type Incomparable = ReadonlyMap<string, string>;

/** Returns the columns of a table that this database cannot compare. */
export function incomparableIn({ catalog, table }: Pick<Access, "catalog" | "table">): Incomparable {
  return catalog.unsupported.columns.get(table.name) ?? none;
}

const none: Incomparable = new Map();

/** Returns a refusal where this database cannot compare one of the columns; null where it can compare all. */
export function notComparable(columns: readonly Column[], incomparable: Incomparable | undefined): Refusal | null {
  const column = columns.map(({ name }) => name).find((name) => incomparable?.has(name));
  return column === undefined
    ? null
    : badRequest(`${column}: neither sorted nor filtered by, as the server lacks its collation`);
}

type Parser = (sent: RequestValue, readable: ReadonlyMap<string, Column>) => Partial<ListParts> | Refusal;

/** The parameters that are read one by one, unlike those of filters and of `expand`, and unlike `cursor`, which is alone. */
type SimpleParameter = Exclude<ListParameter, "where" | "filter" | "expand" | "cursor">;

const parsersByName: Readonly<Record<SimpleParameter, Parser>> = {
  limit: parseLimit,
  offset: parseOffset,
  search: parseSearch,
  select: parseSelect,
  sort: parseSort,
  total: parseTotal,
};
const parsers: ReadonlyMap<string, Parser> = new Map(Object.entries(parsersByName));

function parseLimit(sent: RequestValue): Partial<ListParts> | Refusal {
  const limit = sent.count();
  return limit === null || limit < 1 || limit > limitMax
    ? badRequest(`limit: expected an integer from 1 to ${limitMax}`)
    : { limit };
}

function parseOffset(sent: RequestValue): Partial<ListParts> | Refusal {
  const offset = sent.count();
  return offset === null ? badRequest("offset: expected an integer, 0 or more") : { offset };
}

/**
 * Parses `select` into the columns of the answer. Where it names none, the result has no `select`, which stands for all
 * columns. A column that is not in `readable` is refused.
 */
export function parseSelect(
  sent: RequestValue,
  readable: ReadonlyMap<string, Column>,
): Pick<Partial<ListRequest>, "select"> | Refusal {
  const names = sent.names();
  if (names === null) return badRequest("select: expected an array of columns");
  const columns: Column[] = [];
  for (const part of names) {
    const column = columnOf(part, readable);
    if (isRefusal(column)) return column;
    if (columns.includes(column)) return badRequest(`select: ${part} is named twice`);
    columns.push(column);
  }
  // A body can say `[]`, which selects nothing in particular and means all columns.
  return columns.length === 0 ? {} : { select: columns };
}

/** Parses `sort` into its terms, in their order. Columns that are not `readable` are refused. */
export function parseSort(
  sent: RequestValue,
  readable: ReadonlyMap<string, Column>,
): Pick<ListRequest, "sort"> | Refusal {
  const names = sent.names();
  if (names === null) return badRequest("sort: expected an array of columns");
  const terms: SortTerm[] = [];
  for (const part of names) {
    const descending = part.startsWith("-");
    const column = columnOf(descending ? part.slice(1) : part, readable);
    if (isRefusal(column)) return column;
    if (column.type === "json") return badRequest(`sort: ${column.name} is a json column`);
    if (terms.some((term) => term.column === column)) return badRequest(`sort: ${column.name} is named twice`);
    terms.push({ column, descending });
  }
  return { sort: terms };
}

function parseTotal(sent: RequestValue): Partial<ListParts> | Refusal {
  const text = sent.text();
  if (text !== "exact" && text !== "none") return badRequest("total: expected exact or none");
  return { counts: text === "exact" };
}
