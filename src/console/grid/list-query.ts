import type { Column, ColumnType } from "../server/shapes.js";
import { parseValue } from "./value.js";

/** The comparisons that a filter can be made of. */
export const operators = [
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

/** One of them. */
export type Operator = (typeof operators)[number];

/** A condition of a list, with its value as it was typed. */
export interface Condition {
  readonly column: string;
  readonly operator: Operator;
  readonly value: string;
}

/** What of a table is shown, and in which order. */
export interface GridQuery {
  readonly conditions: readonly Condition[];
  /**
   * The columns to sort by, the first one foremost: `column` ascending, `-column` descending. An empty list stands for
   * the order of the key.
   */
  readonly sort: readonly string[];
  readonly search: string;
}

const ordered: readonly Operator[] = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "is_null"];
const operatorsOfType: Record<ColumnType, readonly Operator[]> = {
  integer: ordered,
  real: ordered,
  text: ["eq", "ne", "icontains", "contains", "starts_with", "lt", "lte", "gt", "gte", "in", "is_null"],
  boolean: ["eq", "ne", "is_null"],
  json: ["is_null"],
  blob: ["is_null"],
};

/** The operators that the server takes for columns of a type. */
export function operatorsOf(type: ColumnType): readonly Operator[] {
  return operatorsOfType[type];
}

/** The query as the parameters of an address. */
export function queryParameters({ conditions, sort, search }: GridQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const { column, operator, value } of conditions)
    parameters.append("f", `${column}.${operator}.${value}`);
  if (sort.length > 0) parameters.set("sort", sort.join(","));
  if (search !== "") parameters.set("search", search);
  return parameters;
}

/** The query that an address holds. What is not understood is left out. */
export function queryOf(parameters: URLSearchParams): GridQuery {
  const conditions = parameters.getAll("f").flatMap((text): Condition[] => {
    const [, column, operator, value] = /^(\w+)\.(\w+)\.(.*)$/s.exec(text) ?? [];
    const known = operators.find((name) => name === operator);
    return known === undefined ? [] : [{ column: column!, operator: known, value: value! }];
  });
  const sort = (parameters.get("sort") ?? "").split(",").filter((term) => /^-?\w+$/.test(term));
  return { conditions, sort, search: parameters.get("search") ?? "" };
}

/** A condition as the client takes it, or the column whose value is none of its type. */
export function filterOf(
  conditions: readonly Condition[],
  columns: readonly Column[],
): { readonly filter: object } | { readonly wrong: Condition } {
  const groups: object[] = [];
  for (const condition of conditions) {
    const { column, operator, value } = condition;
    const type = columns.find(({ name }) => name === column)?.type;
    const operand = type === undefined ? undefined : operandOf(type, operator, value);
    if (operand === undefined) return { wrong: condition };
    groups.push({ [column]: { [operator]: operand } });
  }
  // As a group each, because the same comparison may come twice.
  return { filter: groups.length === 0 ? {} : { $and: groups } };
}

function operandOf(type: ColumnType, operator: Operator, typed: string): unknown {
  if (operator === "is_null") return typed !== "false";
  const read = (text: string) => {
    const parsed = parseValue(type, text);
    return "value" in parsed ? parsed.value : undefined;
  };
  if (operator !== "in") return read(typed);
  const values = typed.split(",").map((text) => read(text.trim()));
  return values.includes(undefined) ? undefined : values;
}

/** The column that a term of a sort names. */
export function sortedColumn(term: string): string {
  return term.replace(/^-/, "");
}

/** The order after somebody has chosen a column: ascending, then descending, then none. With `isAdded` beside the others. */
export function sortedBy(sort: readonly string[], column: string, isAdded: boolean): readonly string[] {
  const others = isAdded ? sort.filter((term) => sortedColumn(term) !== column) : [];
  if (sort.includes(column)) return [...others, `-${column}`];
  return sort.includes(`-${column}`) ? others : [...others, column];
}
