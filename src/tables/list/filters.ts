import { type QueryParameter, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { parseStrictJson } from "../../http/strict-json.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainReal, realText } from "../../platform/real-scale.js";
import type { Column } from "../../project/model.js";
import type { ColumnReference, CompareOperator, Expression, Given, TextMatch } from "../../rules/ast.js";
import { fromJson, fromText } from "../values.js";

/** The filters of a list request. */
export interface ParsedFilters {
  /** Conditions that a row has to pass, all of them. They hold names; `filterValues` has the values. */
  readonly filters: readonly Expression[];
  /** The values that filters compare with, by the names that stand for them in `filters`. */
  readonly filterValues: ReadonlyMap<string, SqlValue>;
  /** The columns that the filters compare by the column's collation, which this database may lack. */
  readonly compared: readonly Column[];
}

const inValuesMax = 1000;
/** How many comparisons a request has in all its groups. An `in` is one, however many values it has. */
const filtersMax = 50;
/** How deep groups of filters (`$or`, `$and`, `$not`) may nest in one another. */
const groupsMax = 5;

/**
 * Parses `filter[…]` and `where[…]`, in which `$or`, `$and` and `$not` make groups (`docs/reference/http.md#groups`).
 * Columns that the caller may not read are not in `readable`.
 */
export function parseFilters(
  parameters: readonly QueryParameter[],
  readable: ReadonlyMap<string, Column>,
): ParsedFilters | Refusal {
  const root = newGroup();
  for (const [parameter, text] of parameters) {
    const refusal = place(root, parameter, text, readable);
    if (refusal !== null) return refusal;
  }
  const refusal = gapIn(root);
  if (refusal !== null) return refusal;
  const all = filtersIn(root);
  if (all.length > filtersMax) return badRequest(`more than ${filtersMax} filters`);
  const names = new Map(all.map((filter, i) => [filter, nameOf(i)]));
  const values = all.filter(({ value }) => value !== null);
  return {
    filters: conditionsOf(root, names),
    filterValues: new Map(values.map((filter) => [names.get(filter)!, filter.value])),
    compared: all.filter(({ operator }) => !comparesNothing.has(operator)).map(({ column }) => column),
  };
}

/** The column of a name. One that the caller may not read is refused in the same words as one that does not exist. */
export function columnOf(name: string, readable: ReadonlyMap<string, Column>): Column | Refusal {
  return readable.get(name) ?? badRequest(`unknown column ${quoted(name)}`);
}

/** One comparison. `condition` makes its condition, given the name for `value`, which is null for `is_null`. */
interface Filter {
  readonly operator: string;
  readonly column: Column;
  readonly value: SqlValue;
  readonly condition: (column: ColumnReference, value: Given) => Expression;
}

/** Comparisons and groups of which all have to hold. */
interface Group {
  /** The comparisons of the group, by column and operator, as each of these may occur once in a group. */
  readonly filters: Map<string, Filter>;
  /** The groups of `$or`, by their index in the request. At least one has to hold. */
  readonly or: Map<number, Group>;
  /** The groups of `$and`, by their index in the request. All have to hold. */
  readonly and: Map<number, Group>;
  /** The group of `$not`, which must not hold; null where there is none. */
  not: Group | null;
}

const newGroup = (): Group => ({ filters: new Map(), or: new Map(), and: new Map(), not: null });

/** Puts a parameter into its group. Returns a refusal where it is none of a list's, or says the same as another one. */
function place(
  root: Group,
  parameter: string,
  text: string,
  readable: ReadonlyMap<string, Column>,
): Refusal | null {
  const segments = segmentsOf(parameter);
  if (segments === null) return badRequest(`unknown parameter ${quoted(parameter)}`);
  const found = groupAt(root, segments, parameter);
  if (isRefusal(found)) return found;
  const { group, left } = found;
  const [name, operator, ...others] = left;
  if (name === undefined) return badRequest(`${quoted(parameter)}: a group needs comparisons`);
  if (operator === undefined || others.length > 0)
    return badRequest(`unknown parameter ${quoted(parameter)}`);
  const filter = parseFilter(name, operator, text, readable);
  if (isRefusal(filter)) return filter;
  const key = `${name} ${operator}`;
  if (group.filters.has(key)) return badRequest(`two filters of ${name} by ${operator}`);
  group.filters.set(key, filter);
  return null;
}

/** What stands in the brackets of a filter: `where[c]` is `filter[c][eq]`. Null for other parameters. */
function segmentsOf(parameter: string): readonly string[] | null {
  const where = /^where\[([^[\]]*)\]$/.exec(parameter);
  if (where !== null) return [where[1]!, "eq"];
  const filter = /^filter((?:\[[^[\]]*\])+)$/.exec(parameter);
  return filter === null ? null : filter[1]!.slice(1, -1).split("][");
}

/** The group that the first segments lead to, which is made where it is missing, and the segments that are left. */
function groupAt(
  root: Group,
  segments: readonly string[],
  parameter: string,
): { readonly group: Group; readonly left: readonly string[] } | Refusal {
  let group = root;
  let at = 0;
  for (let depth = 1; segments[at]?.startsWith("$"); depth++) {
    const word = segments[at]!;
    if (depth > groupsMax) return badRequest(`filters nest ${groupsMax} deep at most`);
    if (word === "$not") {
      group.not ??= newGroup();
      group = group.not;
      at++;
    } else if (word === "$or" || word === "$and") {
      const index = segments[at + 1] ?? "";
      if (!/^(0|[1-9]\d?)$/.test(index))
        return badRequest(`${quoted(parameter)}: ${word} takes an index, as in filter[${word}][0][…]`);
      const groups = word === "$or" ? group.or : group.and;
      group = groups.get(Number(index)) ?? newGroup();
      groups.set(Number(index), group);
      at += 2;
    } else return badRequest(`unknown parameter ${quoted(parameter)}`);
  }
  return { group, left: segments.slice(at) };
}

/** The groups directly inside of a group, in the order of their indexes. */
function groupsIn({ or, and, not }: Group): readonly Group[] {
  return [...inOrder(or), ...inOrder(and), ...(not === null ? [] : [not])];
}

const inOrder = (groups: ReadonlyMap<number, Group>) =>
  [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);

/** A refusal where indexes do not count from 0 on: a group that was left out would change what the others mean. */
function gapIn(group: Group): Refusal | null {
  for (const [word, groups] of [
    ["$or", group.or],
    ["$and", group.and],
  ] as const)
    for (let i = 0; i < groups.size; i++)
      if (!groups.has(i))
        return badRequest(`${word}: there is no group ${i}, and indexes count from 0 without gaps`);
  return (
    groupsIn(group)
      .map(gapIn)
      .find((refusal) => refusal !== null) ?? null
  );
}

function filtersIn(group: Group): readonly Filter[] {
  return [...group.filters.values(), ...groupsIn(group).flatMap(filtersIn)];
}

/**
 * Each value is named after the position of its filter, so that requests that differ only in values have the same
 * filters.
 */
const nameOf = (i: number) => `filter.${i}`;

/** The conditions of a group, all of which have to hold. Those of an `$and` are among them, so that indexes serve them. */
function conditionsOf(group: Group, names: ReadonlyMap<Filter, string>): readonly Expression[] {
  const whole = (inner: Group) => allOf(conditionsOf(inner, names));
  const own = [...group.filters.values()].map((filter) => {
    const column: ColumnReference = { kind: "column", source: "row", column: filter.column.name };
    return filter.condition(column, { kind: "given", name: names.get(filter)! });
  });
  const [first, ...others] = inOrder(group.or);
  const or: readonly Expression[] =
    first === undefined
      ? []
      : others.length === 0
        ? conditionsOf(first, names)
        : [{ kind: "or", terms: [first, ...others].map(whole) }];
  const and = inOrder(group.and).flatMap((inner) => conditionsOf(inner, names));
  const not: readonly Expression[] = group.not === null ? [] : [{ kind: "not", term: whole(group.not) }];
  return [...own, ...or, ...and, ...not];
}

function allOf(terms: readonly Expression[]): Expression {
  return terms.length === 1 ? terms[0]! : { kind: "and", terms };
}

/** The operators that compare bytes or NULL, and so do not use the collation of the column. */
const comparesNothing: ReadonlySet<string> = new Set(["is_null", "contains", "icontains", "starts_with"]);

function parseFilter(
  name: string,
  operator: string,
  text: string,
  readable: ReadonlyMap<string, Column>,
): Filter | Refusal {
  const column = columnOf(name, readable);
  if (isRefusal(column)) return column;
  const parser = operators.get(operator);
  if (parser === undefined) return badRequest(`${column.name}: unknown operator ${quoted(operator)}`);
  if (column.type === "json" && parser !== isNull)
    return badRequest(`${column.name}: a json column can be filtered by is_null alone`);
  return parser(column, text);
}

type FilterParser = (column: Column, text: string) => Filter | Refusal;

function comparison(name: string, operator: CompareOperator): FilterParser {
  return (column, text) => {
    const value = typed(column, text);
    if (isRefusal(value)) return value;
    const condition: Filter["condition"] = (left, right) => ({ kind: "compare", operator, left, right });
    return { operator: name, column, value, condition };
  };
}

function typed(column: Column, text: string): NonNullable<SqlValue> | Refusal {
  const parsed = fromText(column, text);
  return parsed.ok
    ? parsed.value!
    : badRequest(`${column.name}: expected ${parsed.expected}, got ${quoted(text)}`);
}

function isNull(column: Column, text: string): Filter | Refusal {
  if (text !== "true" && text !== "false")
    return badRequest(`${column.name}: is_null takes true or false, got ${quoted(text)}`);
  const negated = text === "false";
  return {
    operator: "is_null",
    column,
    value: null,
    condition: (value) => ({ kind: "is_null", value, negated }),
  };
}

function oneOf(column: Column, text: string): Filter | Refusal {
  return membership("in", column, text);
}

function noneOf(column: Column, text: string): Filter | Refusal {
  const filter = membership("not_in", column, text);
  if (isRefusal(filter)) return filter;
  return {
    ...filter,
    condition: (value, list) => ({ kind: "not", term: filter.condition(value, list) }),
  };
}

function membership(operator: "in" | "not_in", column: Column, text: string): Filter | Refusal {
  if (column.type === "blob")
    return badRequest(`${column.name}: a blob column cannot be filtered by ${operator}`);
  const items = text.startsWith("[") ? jsonItems(text) : text.split(",");
  if (items === null)
    return badRequest(`${column.name}: ${operator} takes a comma-separated list or a JSON array`);
  if (items.length < 1 || items.length > inValuesMax)
    return badRequest(`${column.name}: ${operator} takes 1 to ${inValuesMax} values`);
  const values: NonNullable<SqlValue>[] = [];
  for (const item of items) {
    const parsed = typeof item === "string" ? fromText(column, item) : fromJson(column, item);
    if (!parsed.ok) return badRequest(`${column.name}: expected ${parsed.expected} in the list`);
    if (parsed.value === null) return badRequest(`${column.name}: ${operator} takes no null, see is_null`);
    values.push(parsed.value);
  }
  const arePlain = values.every((value) => typeof value !== "number" || isPlainReal(value));
  const condition: Filter["condition"] = (value, list) => ({ kind: "in_given", value, list, arePlain });
  return { operator, column, value: `[${values.map(itemText).join(",")}]`, condition };
}

/** An item of `in` as JSON from which SQLite reads the same value. */
function itemText(value: SqlValue): string {
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" ? realText(value) : JSON.stringify(value);
}

function jsonItems(text: string): readonly unknown[] | null {
  const parsed = parseStrictJson(text);
  return !isRefusal(parsed) && Array.isArray(parsed.value) ? parsed.value : null;
}

function textMatch(kind: TextMatch["kind"]): FilterParser {
  return (column, text) =>
    column.type === "text"
      ? { operator: kind, column, value: text, condition: (value, text) => ({ kind, value, text }) }
      : badRequest(`${column.name}: ${kind} is for text columns`);
}

const operators: ReadonlyMap<string, FilterParser> = new Map<string, FilterParser>([
  ["eq", comparison("eq", "=")],
  ["ne", comparison("ne", "!=")],
  ["lt", comparison("lt", "<")],
  ["lte", comparison("lte", "<=")],
  ["gt", comparison("gt", ">")],
  ["gte", comparison("gte", ">=")],
  ["in", oneOf],
  ["not_in", noneOf],
  ["is_null", isNull],
  ["contains", textMatch("contains")],
  ["icontains", textMatch("icontains")],
  ["starts_with", textMatch("starts_with")],
]);
