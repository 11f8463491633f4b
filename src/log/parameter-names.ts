import { parseQueryString } from "../http/query-string.js";
import { isRefusal } from "../http/refusal.js";

/** The names of query parameters that the log may show, apart from names of columns. */
const known = new Set(
  "limit offset sort select cursor base allow_destructive from to group_by token state code error".split(" "),
);

const operators = new Set("eq ne lt lte gt gte in is_null contains starts_with".split(" "));

/**
 * The names of a query string's parameters, in its order, for the request log. A name that is neither one of the known
 * parameters nor that of a column of the table is given as `?`, because it may be any text of the caller's.
 */
export function parameterNames(url: string, columns: ReadonlyMap<string, unknown>): readonly string[] {
  const parameters = parseQueryString(url);
  if (isRefusal(parameters)) return ["?"];
  return parameters.map(([name]) => (isKnown(name, columns) ? name : "?"));
}

function isKnown(name: string, columns: ReadonlyMap<string, unknown>): boolean {
  if (known.has(name) || columns.has(name)) return true;
  const [, column, , operator] = /^(?:where|filter)\[([^[\]]*)\](\[([^[\]]*)\])?$/.exec(name) ?? [];
  return column !== undefined && columns.has(column) && (operator === undefined || operators.has(operator));
}
