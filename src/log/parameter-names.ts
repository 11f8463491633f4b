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

/** What the brackets of a parameter may hold beside names of columns: operators, groups and options of `expand`. */
const inBrackets = new Set(
  "eq ne lt lte gt gte in is_null contains icontains starts_with $or $and $not limit sort select count".split(
    " ",
  ),
);

/**
 * Returns the names of a query string's parameters, in its order, for the request log. A name that is neither one of
 * the known parameters nor that of a column of the table is given as `?`, because it may be any text of the caller's.
 * For a malformed query string the result is a single `?`.
 */
export function parameterNames(url: string, columns: ReadonlyMap<string, unknown>): readonly string[] {
  const parameters = parseQueryString(url);
  if (isRefusal(parameters)) return ["?"];
  return parameters.map(([name]) => (isKnown(name, columns) ? name : "?"));
}

function isKnown(name: string, columns: ReadonlyMap<string, unknown>): boolean {
  if (known.has(name) || columns.has(name)) return true;
  const [, brackets] = /^(?:where|filter|expand)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  if (brackets === undefined) return false;
  const parts = brackets.slice(1, -1).split("][");
  return parts.every((part) => columns.has(part) || inBrackets.has(part) || /^\d\d?$/.test(part));
}
