import type { Endpoint } from "../http/endpoint.js";
import { parseQueryString } from "../http/query-string.js";
import { isRefusal } from "../http/refusal.js";
import { expandOptions, filterOperators, listParameters, tableParameters } from "../wire/list-query.js";

/** The parameters of requests to tables. */
const ofTables: ReadonlySet<string> = new Set([...listParameters, ...tableParameters]);
const operators: ReadonlySet<string> = new Set(filterOperators);
const optionsOfExpand: ReadonlySet<string> = new Set(expandOptions);

/**
 * The names of a query string's parameters as the request log may show them, in its order. `columns` are those of the
 * table that the request is about.
 */
export type ParameterNames = (url: string, columns: ReadonlyMap<string, unknown>) => readonly string[];

/**
 * A name that is neither a parameter of one of these endpoints or of requests to tables, nor that of a column of the
 * table is given as `?`, because it may be any text of the caller's; so is the path in `expand[…][limit]`.
 */
export function createParameterNames(endpoints: readonly Endpoint[]): ParameterNames {
  const known = new Set(endpoints.flatMap(queryNames));
  return (url, columns) => {
    const parameters = parseQueryString(url);
    if (isRefusal(parameters)) return ["?"];
    return parameters.map(([name]) => (known.has(name) ? name : shown(name, columns)));
  };
}

function queryNames({ parameters = [], undocumentedQuery = [] }: Endpoint): readonly string[] {
  const documented = parameters.filter((parameter) => parameter.in === "query");
  return [...documented.map(({ name }) => name as string), ...undocumentedQuery];
}

function shown(name: string, columns: ReadonlyMap<string, unknown>): string {
  if (ofTables.has(name) || columns.has(name)) return name;
  const [, word, brackets] = /^(where|filter|expand)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  const parts = brackets?.slice(1, -1).split("][") ?? [];
  if (word === "expand") return optionsOfExpand.has(parts[1] ?? "") ? `expand[?][${parts[1]}]` : "?";
  return word !== undefined && isComparison(parts, columns) ? name : "?";
}

/** Whether these are the brackets of a filter: groups, such as `[$or][0]`, a column, perhaps an operator. */
function isComparison(parts: readonly string[], columns: ReadonlyMap<string, unknown>): boolean {
  const [first, second, ...rest] = parts;
  if (first === undefined) return false;
  if (first === "$not") return isComparison(parts.slice(1), columns);
  if (first === "$or" || first === "$and") return /^\d\d?$/.test(second ?? "") && isComparison(rest, columns);
  return columns.has(first) && rest.length === 0 && (second === undefined || operators.has(second));
}
