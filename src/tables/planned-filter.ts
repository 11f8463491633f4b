import type { SqlValue } from "../platform/database.js";
import { isPlainReal, realText } from "../platform/real-scale.js";
import type { Column } from "../project/model.js";
import type { Given } from "../project/rules/ast.js";
import type { Comparison, Filter } from "./list-request.js";
import { type GivenValues, type Param, Slot } from "./sql/fragment.js";

/** A filter as plans know it: what it compares with is given later. */
export type PlannedFilter =
  | {
      readonly operator: Comparison | "contains" | "starts_with";
      readonly column: Column;
      readonly value: Param;
    }
  /** `items` is a JSON array; `arePlain` where each of them is written as itself (see `real-scale.ts`). */
  | { readonly operator: "in"; readonly column: Column; readonly items: Param; readonly arePlain: boolean }
  | { readonly operator: "is_null"; readonly column: Column; readonly value: boolean };

const slotName = (i: number) => `filter.${i}`;

/** The value of a filter, for a rule. */
export function givenFilter(i: number): Given {
  return { kind: "given", name: slotName(i) };
}

export function plannedFilter(filter: Filter, i: number): PlannedFilter {
  const { operator, column } = filter;
  if (operator === "is_null") return filter;
  const slot = new Slot(slotName(i));
  return operator === "in"
    ? { operator, column, items: slot, arePlain: arePlain(filter.values) }
    : { operator, column, value: slot };
}

/** What the slots of planned filters stand for. */
export function filterValues(filters: readonly Filter[]): GivenValues {
  const values = new Map<string, SqlValue>();
  filters.forEach((filter, i) => {
    if (filter.operator === "in") values.set(slotName(i), `[${filter.values.map(jsonItem).join(",")}]`);
    else if (filter.operator !== "is_null") values.set(slotName(i), filter.value);
  });
  return values;
}

/** The same text for filters that differ in what is given later alone. */
export function filterShape(filter: Filter): string {
  const { operator, column } = filter;
  const kind = operator === "in" ? arePlain(filter.values) : operator === "is_null" ? filter.value : "";
  return `${column.name} ${operator} ${kind}`;
}

function arePlain(values: readonly SqlValue[]): boolean {
  return values.every((value) => typeof value !== "number" || isPlainReal(value));
}

function jsonItem(value: SqlValue): string {
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" ? realText(value) : JSON.stringify(value);
}
