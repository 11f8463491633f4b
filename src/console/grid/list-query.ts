import type { ColumnTypeName } from "../../wire/columns.js";
import type { SchemaColumn } from "../../wire/schema-in-force.js";
import { parseValue } from "./value.js";

/** The operators of a condition, as the server's filters name them. */
const operators = [
  "eq",
  "ne",
  "lt",
  "lte",
  "gt",
  "gte",
  "contains",
  "icontains",
  "starts_with",
  "in",
  "is_null",
] as const;

/** An operator of a condition of the grid's filter. */
export type Operator = (typeof operators)[number];

/** A condition of the grid's filter. `value` is as the user typed it, not yet of the column's type. */
export interface FilterCondition {
  readonly column: string;
  readonly operator: Operator;
  readonly value: string;
}

/** What the grid shows of a table: the conditions of the filter, the order, and the search. */
export interface GridQuery {
  readonly conditions: readonly FilterCondition[];
  /** The most important column first, `-column` for descending. If empty, rows are in the order of the primary key. */
  readonly sort: readonly string[];
  readonly search: string;
}

const ordered: readonly Operator[] = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "is_null"];
const operatorsOfType: Record<ColumnTypeName, readonly Operator[]> = {
  integer: ordered,
  real: ordered,
  text: ["eq", "ne", "icontains", "contains", "starts_with", "lt", "lte", "gt", "gte", "in", "is_null"],
  boolean: ["eq", "ne", "is_null"],
  json: ["is_null"],
  blob: ["is_null"],
};

/** The operators that the server accepts for columns of this type. */
export function operatorsOf(type: ColumnTypeName): readonly Operator[] {
  return operatorsOfType[type];
}

/** The grid's query as query parameters of an address. */
export function queryParameters({ conditions, sort, search }: GridQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const { column, operator, value } of conditions) parameters.append("f", `${column}.${operator}.${value}`);
  if (sort.length > 0) parameters.set("sort", sort.join(","));
  if (search !== "") parameters.set("search", search);
  return parameters;
}

/** The grid's query from the query parameters of an address, without malformed ones. */
export function queryOf(parameters: URLSearchParams): GridQuery {
  const conditions = parameters.getAll("f").flatMap((text): FilterCondition[] => {
    const [, column, operator, value] = /^(\w+)\.(\w+)\.(.*)$/s.exec(text) ?? [];
    const known = operators.find((name) => name === operator);
    return known === undefined ? [] : [{ column: column!, operator: known, value: value! }];
  });
  const sort = (parameters.get("sort") ?? "").split(",").filter((term) => /^-?\w+$/.test(term));
  return { conditions, sort, search: parameters.get("search") ?? "" };
}

/**
 * The filter for the client's list call; or the first condition that names no column of the table, or whose text is not
 * a value of its column's type.
 */
export function filterOf(
  conditions: readonly FilterCondition[],
  columns: readonly SchemaColumn[],
): { readonly filter: object } | { readonly wrong: FilterCondition } {
  const groups: object[] = [];
  for (const condition of conditions) {
    const { column, operator, value } = condition;
    const type = columns.find(({ name }) => name === column)?.type;
    const operand = type === undefined ? undefined : operandOf(type, operator, value);
    if (operand === undefined) return { wrong: condition };
    groups.push({ [column]: { [operator]: operand } });
  }
  // A group for each condition, because two of them may have the same column and operator.
  return { filter: groups.length === 0 ? {} : { $and: groups } };
}

function operandOf(type: ColumnTypeName, operator: Operator, typed: string): unknown {
  if (operator === "is_null") return typed !== "false";
  const read = (text: string) => {
    const parsed = parseValue(type, text);
    return "value" in parsed ? parsed.value : undefined;
  };
  if (operator !== "in") return read(typed);
  const values = typed.split(",").map((text) => read(text.trim()));
  return values.includes(undefined) ? undefined : values;
}

/** The column of a term of `sort`, without the `-` of descending order. */
export function sortedColumn(term: string): string {
  return term.replace(/^-/, "");
}

/**
 * The order after a click on a column's heading: ascending first, then descending, then none. `isAdded` (Shift is held)
 * keeps the order by other columns.
 */
export function sortedBy(sort: readonly string[], column: string, isAdded: boolean): readonly string[] {
  const others = isAdded ? sort.filter((term) => sortedColumn(term) !== column) : [];
  if (sort.includes(column)) return [...others, `-${column}`];
  return sort.includes(`-${column}`) ? others : [...others, column];
}
