import { badCall } from "./error.js";
import { expandMember, expandParameters } from "./expand.js";
import type { Comparable, SortTerm } from "./table-types.js";
import type { Call } from "./transport.js";

/** The parameters of a list (`docs/reference/http.md#lists`): `K` the columns in `select`, `E` the type of `expand`. */
export interface ListQuery<Row, K extends keyof Row = keyof Row, E = unknown> {
  /** The value that a row has to have in each column named; null asks for NULL. */
  readonly where?: { readonly [C in keyof Row]?: Comparable<Row[C]> };
  readonly filter?: Filters<Row>;
  readonly select?: readonly K[];
  /** `column` sorts in ascending order, `-column` in descending order. */
  readonly sort?: SortTerm<Row> | readonly SortTerm<Row>[];
  /**
   * Words that a row has to contain; the last one may be the beginning of a word. A phrase stands in double quotes.
   * Only for tables with a search index.
   */
  readonly search?: string;
  /** References whose rows are included: an array of paths, or an object with the options of each path. */
  readonly expand?: E;
  /** How many rows a page has at most: 1 to 1000; the default is 50. */
  readonly limit?: number;
  readonly offset?: number;
  /** `exact` (default) counts the rows of all pages. With `none`, `meta.total` is null. */
  readonly total?: "exact" | "none";
}

/** Conditions on columns, and groups of them (`docs/reference/http.md#groups`). All have to hold. */
export type Filters<Row> = {
  readonly [C in keyof Row]?: Filter<Comparable<Row[C]>>;
} & {
  /** At least one of these groups has to hold. */
  readonly $or?: readonly Filters<Row>[];
  readonly $and?: readonly Filters<Row>[];
  /** The conditions of this group must not all hold. */
  readonly $not?: Filters<Row>;
};

/** Conditions on one column (`docs/reference/http.md#filters`). All have to hold. */
export interface Filter<Value> {
  readonly eq?: Value;
  readonly ne?: Value;
  readonly lt?: Value;
  readonly lte?: Value;
  readonly gt?: Value;
  readonly gte?: Value;
  /** 1 to 1000 values, of which the column has to have one. */
  readonly in?: readonly Value[];
  readonly not_in?: readonly Value[];
  readonly is_null?: boolean;
  readonly contains?: [Value] extends [string] ? string : never;
  /** Ignores the case of ASCII letters. */
  readonly icontains?: [Value] extends [string] ? string : never;
  readonly starts_with?: [Value] extends [string] ? string : never;
}

/** The parameters of an aggregate (`docs/reference/http.md#aggregates`). */
export interface AggregateQuery<Row> extends Pick<ListQuery<Row>, "where" | "filter" | "limit" | "total"> {
  readonly group?: readonly (keyof Row)[];
  /** `*` counts the rows; a column counts the rows in which it is not null. */
  readonly count?: readonly ("*" | keyof Row)[];
  readonly count_distinct?: readonly (keyof Row)[];
  readonly sum?: readonly Numbers<Row>[];
  readonly avg?: readonly Numbers<Row>[];
  readonly min?: readonly (keyof Row)[];
  readonly max?: readonly (keyof Row)[];
  /** A column of `group`, or a result such as `count`; `-sum_cents` sorts in descending order. */
  readonly sort?: string | readonly string[];
}

/** The columns that hold numbers, and those whose type is not known. */
type Numbers<Row> = {
  [C in keyof Row]-?: unknown extends Row[C] ? C : number extends NonNullable<Row[C]> ? C : never;
}[keyof Row];

/** A row of an aggregate with the query `Q`: the group's columns, and each result by its name, such as `sum_cents`. */
export type AggregateRow<Row, Q> = Shown<
  { [C in Columns<Q, "group"> & keyof Row]-?: Exclude<Row[C], undefined> } & {
    [C in Columns<Q, "count"> as C extends "*" ? "count" : `count_${C}`]: number;
  } & { [C in Columns<Q, "count_distinct"> as `count_distinct_${C}`]: number } & {
    /** A sum of integers beyond ±(2^53−1) is a text of its decimal digits. */
    [C in Columns<Q, "sum"> as `sum_${C}`]: number | string | null;
  } & { [C in Columns<Q, "avg"> as `avg_${C}`]: number | null } & {
    [C in Columns<Q, "min"> & keyof Row as `min_${C}`]: NonNullable<Row[C]> | null;
  } & { [C in Columns<Q, "max"> & keyof Row as `max_${C}`]: NonNullable<Row[C]> | null }
>;

/** The columns that one member of an aggregate's query, such as `sum`, lists. */
type Columns<Q, Part extends string> = Q extends { readonly [P in Part]: readonly (infer C)[] } ? C & string : never;

type Shown<Row> = { [K in keyof Row]: Row[K] };

/** The `sort` of an aggregate's query: names of the result's columns, with `-` before them for descending order. */
export interface AggregateSort<Row, Q> {
  readonly sort?: AggregateTerm<Row, Q> | readonly AggregateTerm<Row, Q>[];
}

type AggregateTerm<Row, Q> = `${"" | "-"}${keyof AggregateRow<Row, Q> & string}`;

/**
 * The query string of an aggregate, without the question mark. Throws SvcError `bad_call` for a query that is wrong in
 * itself, such as one with a value that is missing.
 */
export function aggregateParameters<Row>(query: AggregateQuery<Row>): string {
  const isOwn = ([name]: readonly [string, unknown]) => aggregateParts.includes(name);
  const parts = Object.entries(query);
  const rest = Object.fromEntries(parts.filter((part) => !isOwn(part)));
  const parameters = new URLSearchParams(listParameters(rest));
  for (const [name, value] of parts.filter(isOwn)) {
    const names: readonly unknown[] = [value].flat();
    if (names.some((each) => typeof each !== "string")) throw badCall(`${name}: the value is missing`);
    if (names.length > 0) parameters.append(name, names.join(","));
  }
  return parameters.toString();
}

const aggregateParts = ["group", "count", "count_distinct", "sum", "avg", "min", "max", "sort"];

/** In characters. A longer query is sent as JSON instead, because some proxies cut much longer ones off. */
const queryStringLengthMax = 4000;

/**
 * The call for the first page of a list. A query too long for a query string is sent as JSON
 * (`docs/reference/http.md#lists-as-json`). Throws SvcError `bad_call` as `aggregateParameters` does.
 */
export function listCall<Row, K extends keyof Row>(path: string, query: ListQuery<Row, K>): Call {
  return callOf(path, listParameters(query), () => listBody(query));
}

/** The call for the page that a cursor leads to. A cursor too long for a query string is sent as JSON. */
export function cursorCall(path: string, cursor: string): Call {
  return callOf(path, new URLSearchParams({ cursor }).toString(), () => ({ cursor }));
}

function callOf(path: string, parameters: string, body: () => object): Call {
  if (parameters.length <= queryStringLengthMax) return getCall(path, parameters);
  return { method: "POST", path: `${path}/_svc/query`, body: body() };
}

/** A GET. The query string may be empty. */
export function getCall(path: string, parameters: string): Call {
  return { method: "GET", path: parameters === "" ? path : `${path}?${parameters}` };
}

/** The query of a live list (`docs/guides/client.md#live-lists`). */
export type LiveQuery<Row, K extends keyof Row = keyof Row> = Pick<
  ListQuery<Row, K>,
  "where" | "filter" | "select" | "sort" | "limit"
> & {
  /** Whether the rows are kept on the device, if the client has a `store`; true by default. */
  readonly keep?: boolean;
};

/**
 * Which rows and columns the live list of a query follows, in the form of `docs/sync.md`. It also follows the columns
 * to sort by. Throws SvcError `bad_call` for a query that is wrong in itself, or has a member that a live list does not
 * take.
 */
export function followedTerms<Row, K extends keyof Row>({ keep: _, ...query }: LiveQuery<Row, K>): object {
  listParameters<Row, K>(query);
  const { where, filter, sort, select = [], limit, ...others } = listBody(query) as Followed;
  const [other] = Object.keys(others);
  if (other !== undefined) throw badCall(`${other}: no part of a live list`);
  const sorted = sort.map((term) => term.replace(/^-/, ""));
  return { where, filter, ...(select.length > 0 && { select: [...new Set([...select, ...sorted])] }) };
}

/** The query of a live list, as `listBody` returns it. */
interface Followed {
  readonly where: object;
  readonly filter: object;
  readonly sort: readonly string[];
  readonly select?: readonly string[];
  readonly limit?: number;
}

/** The JSON body of a list. It does not check the query: call `listParameters` first, which throws for a wrong one. */
function listBody<Row, K extends keyof Row>(query: ListQuery<Row, K>): object {
  const { where = {}, filter, sort = [], expand, ...others } = query;
  const equals = Object.entries(where);
  const nulls = equals.filter(([, value]) => value === null).map(([column]) => ({ [column]: { is_null: true } }));
  return {
    ...others,
    where: Object.fromEntries(equals.filter(([, value]) => value !== null)),
    filter: withoutEmpty({ ...filter, $and: [...(filter?.$and ?? []), ...nulls] }),
    sort: [sort].flat(),
    ...(expand !== undefined && { expand: expandMember(expand as object) }),
  };
}

/** A group without the columns and groups that hold no condition. A query string has no place for those either. */
function withoutEmpty(group: object): object {
  return Object.fromEntries(
    Object.entries(group)
      .map(([key, value]) => {
        if (key === "$not") return [key, withoutEmpty(value)] as const;
        return [key, Array.isArray(value) ? value.map(withoutEmpty) : value] as const;
      })
      .filter(([, value]) => Object.keys(value ?? {}).length > 0),
  );
}

/**
 * The query string of a list, without the question mark. Throws SvcError `bad_call` for what is no part of a list's
 * query, and for a value that is undefined or null: without a filter, the list would have rows that it was meant to
 * exclude. Only in `where` is null a value, which asks for NULL.
 */
export function listParameters<Row, K extends keyof Row>(query: ListQuery<Row, K>): string {
  const { where = {}, filter = {}, select = [], sort = [], search, expand, limit, offset, total, ...others } = query;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw badCall(`${unknown}: no such part of a list query`);
  const parameters = new URLSearchParams();
  const add = (name: string, value: unknown) => {
    if (value === undefined || value === null) throw badCall(`${name}: the value is missing`);
    parameters.append(name, Array.isArray(value) ? JSON.stringify(value) : String(value));
  };
  for (const [column, value] of Object.entries(where))
    if (value === null) add(`filter[${column}][is_null]`, true);
    else add(`where[${column}]`, value);
  for (const [name, value] of comparisons("filter", filter)) add(name, value);
  const terms = [sort].flat();
  if (select.length > 0) add("select", select.join(","));
  if (terms.length > 0) add("sort", terms.join(","));
  if (search !== undefined) add("search", search);
  for (const [name, value] of expandParameters((expand ?? []) as object)) add(name, value);
  if (limit !== undefined) add("limit", limit);
  if (offset !== undefined) add("offset", offset);
  if (total !== undefined) add("total", total);
  return parameters.toString();
}

/**
 * The parameters of a group of filters. Throws SvcError `bad_call` for what would not show in a query string: an empty
 * group inside of another one, an `$or` without groups, or a value instead of operators.
 */
function comparisons(prefix: string, group: object): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(group).flatMap(([key, value = {}]) => {
    const name = `${prefix}[${key}]`;
    if (key === "$not") return inGroup(name, value);
    if (key === "$or" || key === "$and") {
      if (!Array.isArray(value) || (key === "$or" && value.length === 0)) throw badCall(`${name}: expected groups`);
      return value.flatMap((each, i) => inGroup(`${name}[${i}]`, each));
    }
    if (Object(value) !== value) throw badCall(`${name}: expected operators such as eq`);
    return Object.entries(value as object).map(([operator, operand]) => [`${name}[${operator}]`, operand] as const);
  });
}

function inGroup(name: string, group: object) {
  const found = comparisons(name, group);
  if (found.length === 0) throw badCall(`${name}: the group is empty`);
  return found;
}
