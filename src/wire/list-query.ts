/** The parameters of a list, in the order of the reference (`docs/reference/http.md#lists`). */
export const listParameters = [
  "where",
  "filter",
  "select",
  "sort",
  "search",
  "expand",
  "limit",
  "offset",
  "total",
  "cursor",
] as const;
/** The name of a parameter of a list. */
export type ListParameter = (typeof listParameters)[number];

/** The operators of filters (`docs/reference/http.md#filters`). */
export const filterOperators = [
  "eq",
  "ne",
  "lt",
  "lte",
  "gt",
  "gte",
  "in",
  "not_in",
  "is_null",
  "contains",
  "icontains",
  "starts_with",
] as const;
/** The name of an operator of filters. */
export type FilterOperator = (typeof filterOperators)[number];

/** The options of a path of `expand`. */
export const expandOptions = ["limit", "sort", "select", "count"] as const;

/** The functions of an aggregate. */
const aggregateFunctions = ["count", "count_distinct", "sum", "avg", "min", "max"] as const;
/** The name of a function of an aggregate. */
export type AggregateFunction = (typeof aggregateFunctions)[number];

/** The parameters of requests to a table that are not those of lists: of aggregates, upserts and the history. */
export const tableParameters = [
  ...aggregateFunctions,
  "group",
  "on_conflict",
  "on_duplicate",
  "since",
  "until",
  "at",
] as const;
