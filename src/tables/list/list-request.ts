import { type QueryParameter, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { parseStrictJson } from "../../http/strict-json.js";
import type { SqlValue } from "../../platform/database.js";
import { isPlainReal, realText } from "../../platform/real-scale.js";
import type { Column } from "../../project/model.js";
import type { ColumnReference, CompareOperator, Expression, Given, TextMatch } from "../../rules/ast.js";
import { fromJson, fromText } from "../values.js";

/** What a list request asks for, with columns instead of names and typed values (`docs/reference/http.md#lists`). */
export interface ListRequest {
  /** Conditions that a row has to pass, all of them. They hold names; `filterValues` has the values. */
  readonly filters: readonly Expression[];
  /** The values that filters compare with, by the names that stand for them in `filters`. */
  readonly filterValues: ReadonlyMap<string, SqlValue>;
  /** Null: every column that the caller may read. */
  readonly select: readonly Column[] | null;
  readonly sort: readonly SortTerm[];
  readonly limit: number;
  readonly offset: number;
}

/** A column of `sort`. */
export interface SortTerm {
  readonly column: Column;
  readonly descending: boolean;
}

const limitDefault = 50;
const limitMax = 1000;
const inValuesMax = 1000;
/** An `in` is one, however many values it has. */
const filtersMax = 50;

/**
 * Parses the parameters of a list. Columns that the caller may not read are not in `readable` and are refused in the
 * same words as columns that do not exist.
 */
export function parseListRequest(
  parameters: readonly QueryParameter[],
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
): ListRequest | Refusal {
  let request: ListParts = { select: null, sort: [], limit: limitDefault, offset: 0 };
  const filters: Filter[] = [];
  for (const [name, text] of parameters) {
    const part = parsers.get(name)?.(text, readable) ?? parseFilter(name, text, readable);
    if (isRefusal(part)) return part;
    if ("operator" in part) filters.push(part);
    else request = { ...request, ...part };
  }
  const { select, sort, limit, offset } = request;
  if (filters.length > filtersMax) return badRequest(`more than ${filtersMax} filters`);
  const refusal = repeatedFilter(filters) ?? notComparable(filters, sort, incomparable);
  if (refusal !== null) return refusal;
  return { select, sort, limit, offset, filters: filters.map(conditionOf), filterValues: valuesOf(filters) };
}

type ListParts = Omit<ListRequest, "filters" | "filterValues">;

/**
 * One filter after parsing. `condition` makes its condition, given the name for `value`, which is null for `is_null`.
 */
interface Filter {
  readonly operator: string;
  readonly column: Column;
  readonly value: SqlValue;
  readonly condition: (column: ColumnReference, value: Given) => Expression;
}

/**
 * Each value is named after the position of its filter, so that requests that differ only in values have the same
 * filters.
 */
const nameOf = (i: number) => `filter.${i}`;

function conditionOf({ column, condition }: Filter, i: number): Expression {
  return condition(
    { kind: "column", source: "row", column: column.name },
    { kind: "given", name: nameOf(i) },
  );
}

function valuesOf(filters: readonly Filter[]): ReadonlyMap<string, SqlValue> {
  const values = new Map<string, SqlValue>();
  filters.forEach(({ value }, i) => {
    if (value !== null) values.set(nameOf(i), value);
  });
  return values;
}

/** Columns that this database cannot compare, because it lacks their collation, by name with the reason. */
export type Incomparable = ReadonlyMap<string, string>;

function notComparable(
  filters: readonly Filter[],
  sort: readonly SortTerm[],
  incomparable: Incomparable,
): Refusal | null {
  const compared = [...filters.filter(({ operator }) => !comparesNothing.has(operator)), ...sort];
  const column = compared.map(({ column: { name } }) => name).find((name) => incomparable.has(name));
  return column === undefined
    ? null
    : badRequest(`${column}: neither sorted nor filtered by, as the server lacks its collation`);
}

/** Operators that do not use the collation of the column. */
const comparesNothing: ReadonlySet<string> = new Set(["is_null", "contains", "starts_with"]);

type Parser = (text: string, readable: ReadonlyMap<string, Column>) => Partial<ListParts> | Refusal;

const parsers: ReadonlyMap<string, Parser> = new Map<string, Parser>([
  ["limit", parseLimit],
  ["offset", parseOffset],
  ["select", parseSelect],
  ["sort", parseSort],
]);

/** Refuses two filters of a column by the same operator. `where[c]=v` counts as `filter[c][eq]=v`. */
function repeatedFilter(filters: readonly Filter[]): Refusal | null {
  const seen = new Set<string>();
  for (const { column, operator } of filters) {
    const key = `${column.name} ${operator}`;
    if (seen.has(key)) return badRequest(`two filters of ${column.name} by ${operator}`);
    seen.add(key);
  }
  return null;
}

function parseLimit(text: string): Partial<ListParts> | Refusal {
  const limit = wholeNumber(text, 1, limitMax);
  return limit === null ? badRequest(`limit: expected an integer from 1 to ${limitMax}`) : { limit };
}

function parseOffset(text: string): Partial<ListParts> | Refusal {
  const offset = wholeNumber(text, 0, Number.MAX_SAFE_INTEGER);
  return offset === null ? badRequest("offset: expected an integer, 0 or more") : { offset };
}

function wholeNumber(text: string, minimum: number, maximum: number): number | null {
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) return null;
  const value = Number(text);
  return value >= minimum && value <= maximum ? value : null;
}

function columnOf(name: string, readable: ReadonlyMap<string, Column>): Column | Refusal {
  return readable.get(name) ?? badRequest(`unknown column ${quoted(name)}`);
}

function parseSelect(text: string, readable: ReadonlyMap<string, Column>): Partial<ListParts> | Refusal {
  const columns: Column[] = [];
  for (const part of text.split(",")) {
    const column = columnOf(part, readable);
    if (isRefusal(column)) return column;
    if (columns.includes(column)) return badRequest(`select: ${part} is named twice`);
    columns.push(column);
  }
  return { select: columns };
}

function parseSort(text: string, readable: ReadonlyMap<string, Column>): Partial<ListParts> | Refusal {
  const terms: SortTerm[] = [];
  for (const part of text.split(",")) {
    const descending = part.startsWith("-");
    const column = columnOf(descending ? part.slice(1) : part, readable);
    if (isRefusal(column)) return column;
    if (column.type === "json") return badRequest(`sort: ${column.name} is a json column`);
    if (terms.some((term) => term.column === column))
      return badRequest(`sort: ${column.name} is named twice`);
    terms.push({ column, descending });
  }
  return { sort: terms };
}

function parseFilter(
  parameter: string,
  text: string,
  readable: ReadonlyMap<string, Column>,
): Filter | Refusal {
  const where = /^where\[([^[\]]*)\]$/.exec(parameter);
  const filter = /^filter\[([^[\]]*)\]\[([^[\]]*)\]$/.exec(parameter);
  if (where === null && filter === null) return badRequest(`unknown parameter ${quoted(parameter)}`);
  const column = columnOf((where ?? filter)![1]!, readable);
  if (isRefusal(column)) return column;
  const parser = operators.get(filter === null ? "eq" : filter[2]!);
  if (parser === undefined) return badRequest(`${column.name}: unknown operator ${quoted(filter![2]!)}`);
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
  if (column.type === "blob") return badRequest(`${column.name}: a blob column cannot be filtered by in`);
  const items = text.startsWith("[") ? jsonItems(text) : text.split(",");
  if (items === null) return badRequest(`${column.name}: in takes a comma-separated list or a JSON array`);
  if (items.length < 1 || items.length > inValuesMax)
    return badRequest(`${column.name}: in takes 1 to ${inValuesMax} values`);
  const values: NonNullable<SqlValue>[] = [];
  for (const item of items) {
    const parsed = typeof item === "string" ? fromText(column, item) : fromJson(column, item);
    if (!parsed.ok) return badRequest(`${column.name}: expected ${parsed.expected} in the list`);
    if (parsed.value === null) return badRequest(`${column.name}: in takes no null, see is_null`);
    values.push(parsed.value);
  }
  const arePlain = values.every((value) => typeof value !== "number" || isPlainReal(value));
  const condition: Filter["condition"] = (value, list) => ({ kind: "in_given", value, list, arePlain });
  return { operator: "in", column, value: `[${values.map(itemText).join(",")}]`, condition };
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
  ["is_null", isNull],
  ["contains", textMatch("contains")],
  ["starts_with", textMatch("starts_with")],
]);
