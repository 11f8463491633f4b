import { quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { Column } from "../../project/model.js";
import { addFilter, type FilterGroup, groupInside, isGroupWord } from "./filters.js";
import { QueryValue } from "./request-value.js";

/**
 * Adds a filter `filter[…]` or `where[…]` of a query string to the group that its brackets lead to
 * (`docs/reference/http.md#groups`). Returns a refusal where the parameter is neither of them, or the filter is
 * incomplete or not valid, for example because the group has a comparison of the same column by the same operator
 * already; else null.
 */
export function addQueryFilter(
  root: FilterGroup,
  parameter: string,
  text: string,
  readable: ReadonlyMap<string, Column>,
): Refusal | null {
  const segments = segmentsOf(parameter);
  if (segments === null) {
    const hint = readable.has(parameter) ? `: rows are filtered by where[${parameter}]` : "";
    return badRequest(`unknown parameter ${quoted(parameter)}${hint}`);
  }
  const found = groupAt(root, segments, parameter);
  if (isRefusal(found)) return found;
  const { group, left } = found;
  const [name, operator, ...others] = left;
  if (name === undefined) return badRequest(`${quoted(parameter)}: a group needs comparisons`);
  if (operator === undefined) return badRequest(`${quoted(parameter)}: an operator is missing, as in filter[…][eq]`);
  if (others.length > 0) return badRequest(`unknown parameter ${quoted(parameter)}`);
  return addFilter(group, name, operator, new QueryValue(text), readable);
}

/** Splits a filter's name by its brackets; `where[c]` is `filter[c][eq]`. Null for another parameter. */
function segmentsOf(parameter: string): readonly string[] | null {
  const where = /^where\[([^[\]]*)\]$/.exec(parameter);
  if (where !== null) return [where[1]!, "eq"];
  const filter = /^filter((?:\[[^[\]]*\])+)$/.exec(parameter);
  return filter === null ? null : filter[1]!.slice(1, -1).split("][");
}

/**
 * Follows the words such as `[$or][0]` at the beginning of a filter's brackets to a group, which is made where it is
 * missing. Returns the group and the texts in the other brackets, or a refusal where such a word or its index is not
 * valid.
 */
function groupAt(
  root: FilterGroup,
  segments: readonly string[],
  parameter: string,
): { readonly group: FilterGroup; readonly left: readonly string[] } | Refusal {
  let group = root;
  let at = 0;
  for (let word = segments[0]; word?.startsWith("$"); word = segments[at]) {
    if (!isGroupWord(word)) return badRequest(`unknown parameter ${quoted(parameter)}`);
    const index = word === "$not" ? "0" : (segments[++at] ?? "");
    if (!/^(0|[1-9]\d?)$/.test(index))
      return badRequest(`${quoted(parameter)}: ${word} takes an index, as in filter[${word}][0][…]`);
    const inner = groupInside(group, word, Number(index));
    if (isRefusal(inner)) return inner;
    group = inner;
    at++;
  }
  return { group, left: segments.slice(at) };
}
