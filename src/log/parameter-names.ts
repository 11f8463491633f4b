import { parseQueryString } from "../http/query-string.js";
import { isRefusal } from "../http/refusal.js";

/** The names of query parameters that the endpoints have, which the log may show. */
const known = new Set(
  [
    "limit offset sort select cursor total search expand on_conflict on_duplicate since until q",
    "count count_distinct sum avg min max group",
    "base allow_destructive from to group_by user_id who status route token state code error",
  ].flatMap((names) => names.split(" ")),
);

const operators = new Set("eq ne lt lte gt gte in is_null contains icontains starts_with".split(" "));
const optionsOfExpand = new Set("limit sort select count".split(" "));

/**
 * The names of a query string's parameters, in its order, for the request log. A name that is neither one of the known
 * parameters nor that of a column of the table is given as `?`, because it may be any text of the caller's; so is the
 * path in `expand[…][limit]`.
 */
export function parameterNames(url: string, columns: ReadonlyMap<string, unknown>): readonly string[] {
  const parameters = parseQueryString(url);
  if (isRefusal(parameters)) return ["?"];
  return parameters.map(([name]) => shown(name, columns));
}

function shown(name: string, columns: ReadonlyMap<string, unknown>): string {
  if (known.has(name) || columns.has(name)) return name;
  const [, word, brackets] = /^(where|filter|expand)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  const parts = brackets?.slice(1, -1).split("][") ?? [];
  if (word === "expand") return optionsOfExpand.has(parts[1] ?? "") ? `expand[?][${parts[1]}]` : "?";
  return word !== undefined && isComparison(parts, columns) ? name : "?";
}

/** Whether these are the brackets of a filter: groups, such as `[$or][0]`, then a column, then perhaps an operator. */
function isComparison(parts: readonly string[], columns: ReadonlyMap<string, unknown>): boolean {
  const [first, second, ...rest] = parts;
  if (first === undefined) return false;
  if (first === "$not") return isComparison(parts.slice(1), columns);
  if (first === "$or" || first === "$and") return /^\d\d?$/.test(second ?? "") && isComparison(rest, columns);
  return columns.has(first) && rest.length === 0 && (second === undefined || operators.has(second));
}
