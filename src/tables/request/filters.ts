import { quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainReal, realText } from "../../platform/real-scale.js";
import type { Column } from "../../project/model.js";
import type { ColumnReference, CompareOperator, Expression, Given, TextMatch } from "../../rules/ast.js";
import type { FilterOperator } from "../../wire/list-query.js";
import { numberName, numberOf } from "../access/numeric-text.js";
import type { RequestValue } from "./request-value.js";

/** The filters of a list request, parsed into conditions and values. */
export interface ParsedFilters {
  /** The conditions that a row has to pass, all of them. They hold placeholder names; `filterValues` has the values. */
  readonly filters: readonly Expression[];
  /**
   * The values that filters compare with, by the placeholder names that stand for them in `filters`. A text that is
   * written as a number is also there as that number (`numberName`), and a list also with the numbers of its texts.
   */
  readonly filterValues: ReadonlyMap<string, SqlValue>;
  /**
   * The columns that the filters compare by their collation. A request that compares a column whose collation this
   * database lacks is refused (`notComparable`).
   */
  readonly compared: readonly Column[];
}

const inValuesMax = 1000;
/** How many values all `in` and `not_in` of a request may have together. */
const listedValuesMax = 10_000;

/** Counts the values of all `in` and `not_in` of a request. Those of all tables of a pull count together. */
export class ListedValues {
  #count = 0;

  /** Adds the values of one list; a refusal where all lists together are too long. */
  add(length: number): Refusal | null {
    this.#count += length;
    return this.refusal;
  }

  /** The refusal of a request whose lists together are too long; null where they are not. */
  get refusal(): Refusal | null {
    return this.#count > listedValuesMax
      ? badRequest(`in: all lists together have more than ${listedValuesMax} values`)
      : null;
  }
}

/** How deep groups of filters (`$or`, `$and`, `$not`) may nest. */
const groupsMax = 5;

/** A group of comparisons and inner groups that all have to hold, filled while a request is read. */
export interface FilterGroup {
  /** How many other groups this one is nested in. */
  readonly depth: number;
  /** The same for all groups of a request. */
  readonly listed: ListedValues;
  /** The comparisons of the group, by column and operator: a group may compare a column by an operator only once. */
  readonly filters: Map<string, Filter>;
  /** The groups under `$or`, by their index in the request. At least one has to hold. */
  readonly or: Map<number, FilterGroup>;
  /** The groups under `$and`, by their index in the request. All have to hold. */
  readonly and: Map<number, FilterGroup>;
  /** The group under `$not`, which must not hold; null where there is none. */
  not: FilterGroup | null;
}

/** Makes an empty group of filters. */
export const newGroup = (listed: ListedValues, depth = 0): FilterGroup => ({
  depth,
  listed,
  filters: new Map(),
  or: new Map(),
  and: new Map(),
  not: null,
});

/**
 * The words that stand for groups inside of a group of filters. Several groups may be under `$or` and `$and`, each with
 * an index; one is under `$not`.
 */
export type GroupWord = "$or" | "$and" | "$not";

/** Whether a name in a filter is a word that has a group under it. */
export function isGroupWord(word: string): word is GroupWord {
  return word === "$or" || word === "$and" || word === "$not";
}

/** Returns the group under a word in another one, new where it is missing; a refusal where it is too deep. */
export function groupInside(group: FilterGroup, word: GroupWord, index: number): FilterGroup | Refusal {
  if (group.depth === groupsMax) return badRequest(`filters nest ${groupsMax} deep at most`);
  if (word === "$not") {
    group.not ??= newGroup(group.listed, group.depth + 1);
    return group.not;
  }
  const groups = word === "$or" ? group.or : group.and;
  const inner = groups.get(index) ?? newGroup(group.listed, group.depth + 1);
  groups.set(index, inner);
  return inner;
}

/**
 * Adds a comparison to a group of filters. Returns a refusal where the column or the operator is unknown, the value
 * that was sent does not fit them, or the group compares the column by this operator already; else null. Columns that
 * the caller may not read are not in `readable`.
 */
export function addFilter(
  group: FilterGroup,
  name: string,
  operator: string,
  sent: RequestValue,
  readable: ReadonlyMap<string, Column>,
): Refusal | null {
  const filter = parseFilter(name, operator, sent, readable, group.listed);
  if (isRefusal(filter)) return filter;
  const key = `${name} ${operator}`;
  if (group.filters.has(key)) return badRequest(`two filters of ${name} by ${operator}`);
  group.filters.set(key, filter);
  return null;
}

/**
 * Makes the conditions of a group of filters and of the groups inside of it (`docs/reference/http.md#groups`). Returns
 * a refusal where an inner group is empty, where the indexes of groups leave one out, or where there are more than
 * `filtersMax` comparisons in all. An `in` counts as one comparison, however many values it has.
 */
export function filtersOf(root: FilterGroup, filtersMax: number): ParsedFilters | Refusal {
  const refusal = gapIn(root);
  if (refusal !== null) return refusal;
  const all = filtersIn(root);
  if (all.length > filtersMax) return badRequest(`more than ${filtersMax} filters`);
  const names = new Map(all.map((filter, i) => [filter, nameOf(i)]));
  const values = all.filter(({ value }) => value !== null);
  return {
    filters: conditionsOf(root, names),
    filterValues: new Map(
      values.flatMap(({ value, asNumber }, i) => {
        const name = names.get(values[i]!)!;
        return [[name, value] as const, ...(asNumber === undefined ? [] : [[numberName(name), asNumber] as const])];
      }),
    ),
    compared: all.filter(({ operator }) => !comparesNothing.has(operator)).map(({ column }) => column),
  };
}

/** Finds a readable column. One that the caller may not read is refused like one that does not exist. */
export function columnOf(name: string, readable: ReadonlyMap<string, Column>): Column | Refusal {
  return readable.get(name) ?? badRequest(`unknown column ${quoted(name)}`);
}

/**
 * One comparison of a filter. `condition` makes the condition for SQL, in which `value` is named by a placeholder. For
 * `is_null`, `value` is null and the placeholder is not used.
 */
interface Filter {
  readonly operator: string;
  readonly column: Column;
  readonly value: SqlValue;
  /** The value for columns of texts that hold numbers too: see `ParsedFilters.filterValues`. */
  readonly asNumber?: NonNullable<SqlValue>;
  readonly condition: (column: ColumnReference, value: Given) => Expression;
}

/** Returns the groups directly inside of a group of filters, in the order of their indexes. */
function groupsIn({ or, and, not }: FilterGroup): readonly FilterGroup[] {
  return [...inOrder(or), ...inOrder(and), ...(not === null ? [] : [not])];
}

const inOrder = (groups: ReadonlyMap<number, FilterGroup>) =>
  [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);

/**
 * Returns a refusal where an inner group is empty, or where indexes do not count from 0 on, because then a group may
 * have been left out, which changes the meaning; else null.
 */
function gapIn(group: FilterGroup): Refusal | null {
  const inner = groupsIn(group);
  if (group.depth > 0 && group.filters.size + inner.length === 0) return badRequest("a group needs comparisons");
  for (const [word, groups] of [
    ["$or", group.or],
    ["$and", group.and],
  ] as const)
    for (let i = 0; i < groups.size; i++)
      if (!groups.has(i)) return badRequest(`${word}: there is no group ${i}, and indexes count from 0 without gaps`);
  return inner.map(gapIn).find((refusal) => refusal !== null) ?? null;
}

function filtersIn(group: FilterGroup): readonly Filter[] {
  return [...group.filters.values(), ...groupsIn(group).flatMap(filtersIn)];
}

/** Names a filter's value by its position, so that requests that differ only in values have the same filters. */
const nameOf = (i: number) => `filter.${i}`;

/**
 * Makes the conditions of a group of filters, all of which have to hold. The conditions of the groups under its `$and`
 * are listed among them one by one, so that indexes can serve them.
 */
function conditionsOf(group: FilterGroup, names: ReadonlyMap<Filter, string>): readonly Expression[] {
  const whole = (inner: FilterGroup) => allOf(conditionsOf(inner, names));
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

/** The operators of filters that do not need the collation of the column: they compare bytes, or only test for NULL. */
const comparesNothing: ReadonlySet<string> = new Set(["is_null", "contains", "icontains", "starts_with"]);

function parseFilter(
  name: string,
  operator: string,
  sent: RequestValue,
  readable: ReadonlyMap<string, Column>,
  listed: ListedValues,
): Filter | Refusal {
  const column = columnOf(name, readable);
  if (isRefusal(column)) return column;
  const parser = operators.get(operator);
  if (parser === undefined) return badRequest(`${column.name}: unknown operator ${quoted(operator)}`);
  if (column.type === "json" && parser !== isNull)
    return badRequest(`${column.name}: a json column can be filtered by is_null alone`);
  return parser(column, sent, listed);
}

type FilterParser = (column: Column, sent: RequestValue, listed: ListedValues) => Filter | Refusal;

function comparison(name: string, operator: CompareOperator): FilterParser {
  return (column, sent) => {
    const value = typed(name, column, sent);
    if (isRefusal(value)) return value;
    const condition: Filter["condition"] = (left, right) => ({ kind: "compare", operator, left, right });
    const asNumber = numberIn(column, value);
    return { operator: name, column, value, ...(asNumber !== null && { asNumber }), condition };
  };
}

/** The number that the value of a text column is written as; null for any other value. */
function numberIn({ type }: Column, value: SqlValue): bigint | number | null {
  return type === "text" ? numberOf(value as string) : null;
}

function typed(operator: string, column: Column, sent: RequestValue): NonNullable<SqlValue> | Refusal {
  const parsed = sent.value(column);
  if (!parsed.ok) return badRequest(`${column.name}: expected ${parsed.expected}, got ${sent.shown()}`);
  return parsed.value ?? badRequest(`${column.name}: ${operator} takes no null, see is_null`);
}

function isNull(column: Column, sent: RequestValue): Filter | Refusal {
  const asked = sent.flag();
  if (asked === null) return badRequest(`${column.name}: is_null takes true or false, got ${sent.shown()}`);
  return {
    operator: "is_null",
    column,
    value: null,
    condition: (value) => ({ kind: "is_null", value, negated: !asked }),
  };
}

function oneOf(column: Column, sent: RequestValue, listed: ListedValues): Filter | Refusal {
  return membership("in", column, sent, listed);
}

function noneOf(column: Column, sent: RequestValue, listed: ListedValues): Filter | Refusal {
  const filter = membership("not_in", column, sent, listed);
  if (isRefusal(filter)) return filter;
  return {
    ...filter,
    condition: (value, list) => ({ kind: "not", term: filter.condition(value, list) }),
  };
}

function membership(
  operator: "in" | "not_in",
  column: Column,
  sent: RequestValue,
  listed: ListedValues,
): Filter | Refusal {
  if (column.type === "blob") return badRequest(`${column.name}: a blob column cannot be filtered by ${operator}`);
  const items = sent.values(column);
  if (items === null) return badRequest(`${column.name}: ${operator} takes a list of values, got ${sent.shown()}`);
  if (items.length < 1 || items.length > inValuesMax)
    return badRequest(`${column.name}: ${operator} takes 1 to ${inValuesMax} values`);
  const tooMany = listed.add(items.length);
  if (tooMany !== null) return tooMany;
  const values: NonNullable<SqlValue>[] = [];
  for (const parsed of items.read()) {
    if (!parsed.ok) return badRequest(`${column.name}: expected ${parsed.expected} in the list`);
    if (parsed.value === null) return badRequest(`${column.name}: ${operator} takes no null, see is_null`);
    values.push(parsed.value);
  }
  const arePlain = values.every((value) => typeof value !== "number" || isPlainReal(value));
  const condition: Filter["condition"] = (value, list) => ({ kind: "in_given", value, list, arePlain });
  const numbers = values.flatMap((item) => numberIn(column, item) ?? []);
  const asNumber = numbers.length > 0 && { asNumber: listText([...values, ...numbers]) };
  return { operator, column, value: listText(values), ...asNumber, condition };
}

/** Writes the items of an `in` filter as a JSON array. */
const listText = (items: readonly SqlValue[]) => `[${items.map(itemText).join(",")}]`;

/** Writes an item of an `in` filter as JSON from which SQLite reads the same value. */
function itemText(value: SqlValue): string {
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" ? realText(value) : JSON.stringify(value);
}

function textMatch(kind: TextMatch["kind"]): FilterParser {
  return (column, sent) => {
    if (column.type !== "text") return badRequest(`${column.name}: ${kind} is for text columns`);
    const value = sent.text();
    return value === null
      ? badRequest(`${column.name}: expected a string, got ${sent.shown()}`)
      : { operator: kind, column, value, condition: (value, text) => ({ kind, value, text }) };
  };
}

const parsersByOperator: Readonly<Record<FilterOperator, FilterParser>> = {
  eq: comparison("eq", "="),
  ne: comparison("ne", "!="),
  lt: comparison("lt", "<"),
  lte: comparison("lte", "<="),
  gt: comparison("gt", ">"),
  gte: comparison("gte", ">="),
  in: oneOf,
  not_in: noneOf,
  is_null: isNull,
  contains: textMatch("contains"),
  icontains: textMatch("icontains"),
  starts_with: textMatch("starts_with"),
};
const operators: ReadonlyMap<string, FilterParser> = new Map(Object.entries(parsersByOperator));
