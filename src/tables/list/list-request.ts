import type { QueryParameter } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { Column } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { columnOf, parseFilters } from "./filters.js";

/** What a list request asks for, with columns instead of names and typed values (`docs/reference/http.md#lists`). */
export interface ListRequest {
  /** Conditions that a row has to pass, all of them. They hold names; `filterValues` has the values. */
  readonly filters: readonly Expression[];
  /** The values that the filters compare with, by the placeholder names that stand for them in `filters`. */
  readonly filterValues: ReadonlyMap<string, SqlValue>;
  /** The columns that the answer has; null for every column that the caller may read. */
  readonly select: readonly Column[] | null;
  readonly sort: readonly SortTerm[];
  readonly limit: number;
  readonly offset: number;
  /** Whether all rows of the list are counted, for `meta.total`. */
  readonly counts: boolean;
}

/** A column of `sort`. */
export interface SortTerm {
  readonly column: Column;
  readonly descending: boolean;
}

const limitDefault = 50;
const limitMax = 1000;

/**
 * Parses the parameters of a list. Columns that the caller may not read are not in `readable` and are refused in the
 * same words as columns that do not exist.
 */
export function parseListRequest(
  parameters: readonly QueryParameter[],
  readable: ReadonlyMap<string, Column>,
  incomparable: Incomparable,
): ListRequest | Refusal {
  let request: ListParts = { select: null, sort: [], limit: limitDefault, offset: 0, counts: true };
  const others: QueryParameter[] = [];
  for (const parameter of parameters) {
    const [name, text] = parameter;
    const part = parsers.get(name)?.(text, readable);
    if (isRefusal(part)) return part;
    if (part === undefined) others.push(parameter);
    else request = { ...request, ...part };
  }
  const parsed = parseFilters(others, readable);
  if (isRefusal(parsed)) return parsed;
  const { filters, filterValues, compared } = parsed;
  const sorted = request.sort.map(({ column }) => column);
  const refusal = notComparable([...compared, ...sorted], incomparable);
  return refusal ?? { ...request, filters, filterValues };
}

type ListParts = Omit<ListRequest, "filters" | "filterValues">;

/** Columns that this database cannot compare, because it lacks their collation, by name with the reason. */
export type Incomparable = ReadonlyMap<string, string>;

function notComparable(columns: readonly Column[], incomparable: Incomparable): Refusal | null {
  const column = columns.map(({ name }) => name).find((name) => incomparable.has(name));
  return column === undefined
    ? null
    : badRequest(`${column}: neither sorted nor filtered by, as the server lacks its collation`);
}

type Parser = (text: string, readable: ReadonlyMap<string, Column>) => Partial<ListParts> | Refusal;

const parsers: ReadonlyMap<string, Parser> = new Map<string, Parser>([
  ["limit", parseLimit],
  ["offset", parseOffset],
  ["select", parseSelect],
  ["sort", parseSort],
  ["total", parseTotal],
]);

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

function parseTotal(text: string): Partial<ListParts> | Refusal {
  if (text !== "exact" && text !== "none") return badRequest("total: expected exact or none");
  return { counts: text === "exact" };
}
