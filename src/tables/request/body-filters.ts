import { quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { Column } from "../../project/model.js";
import { addFilter, type FilterGroup, type GroupWord, groupInside, isGroupWord } from "./filters.js";
import { BodyValue } from "./request-value.js";

type Readable = ReadonlyMap<string, Column>;

/**
 * Adds the filters of a member `filter` or `where` of a JSON body to a group of filters
 * (`docs/reference/http.md#lists-as-json`). Returns a refusal where the member has another name, holds no valid
 * filters, or compares a column by an operator for which the group has a comparison already; else null.
 */
export function addBodyFilters(root: FilterGroup, member: string, value: unknown, readable: Readable): Refusal | null {
  if (member === "filter") return addGroup(root, "filter", value, readable);
  if (member !== "where") return badRequest(`unknown member ${quoted(member)}`);
  return eachMember("where", value, (name, equal) => addFilter(root, name, "eq", new BodyValue(equal), readable));
}

function addGroup(group: FilterGroup, place: string, value: unknown, readable: Readable): Refusal | null {
  return eachMember(place, value, (name, inner) => {
    if (isGroupWord(name)) return addInner(group, name, inner, readable);
    if (name.startsWith("$")) return badRequest(`unknown group ${quoted(name)}`);
    return addComparisons(group, name, inner, readable);
  });
}

/**
 * Adds the groups of filters that a JSON body has under a word to a group: `$not` has one group under it, `$or` and
 * `$and` have an array of groups. Returns a refusal where these are not valid; else null.
 */
function addInner(group: FilterGroup, word: GroupWord, value: unknown, readable: Readable): Refusal | null {
  const all: readonly unknown[] | null = word === "$not" ? [value] : Array.isArray(value) ? value : null;
  if (all === null || all.length === 0) return badRequest(`${word}: expected an array of groups`);
  for (const [i, each] of all.entries()) {
    const inner = groupInside(group, word, i);
    const refusal = isRefusal(inner) ? inner : addGroup(inner, word, each, readable);
    if (refusal !== null) return refusal;
  }
  return null;
}

function addComparisons(group: FilterGroup, name: string, value: unknown, readable: Readable): Refusal | null {
  let isEmpty = true;
  const add = (operator: string, operand: unknown) => {
    isEmpty = false;
    return addFilter(group, name, operator, new BodyValue(operand), readable);
  };
  const refusal = eachMember(name, value, add, 'an object of operators, as {"eq": …}');
  return refusal ?? (isEmpty ? badRequest(`${quoted(name)}: expected an operator`) : null);
}

/**
 * Calls `add` with each member of an object until it refuses one, and returns that refusal; null where it refuses none.
 * Returns a refusal that names `expected` where the value is no object.
 */
function eachMember(
  place: string,
  value: unknown,
  add: (name: string, value: unknown) => Refusal | null,
  expected = "an object",
): Refusal | null {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return badRequest(`${quoted(place)}: expected ${expected}`);
  // An object may have very many members, of which the first one is refused.
  for (const name in value) {
    const refusal = add(name, (value as Readonly<Record<string, unknown>>)[name]);
    if (refusal !== null) return refusal;
  }
  return null;
}
