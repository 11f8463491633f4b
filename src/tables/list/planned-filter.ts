import type { SqlValue } from "../../platform/database.js";
import { isPlainReal, realText } from "../../platform/real-scale.js";
import type { Column } from "../../project/model.js";
import type { Given } from "../../rules/ast.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { makesNumbers } from "../../sqlite/column-type.js";
import { isShownNumber, readsAsNumber } from "../numeric-text.js";
import { type GivenValues, type Param, Slot } from "../sql/fragment.js";
import type { Comparison, Filter } from "./list-request.js";

/** A filter as plans know it: what it compares with is given later. */
export type PlannedFilter =
  | {
      readonly operator: Comparison | "contains" | "starts_with";
      readonly column: Column;
      readonly value: Param;
      readonly asShown: boolean;
    }
  /** `items` is a JSON array; `arePlain` where each of them is written as itself (see `real-scale.ts`). */
  | {
      readonly operator: "in";
      readonly column: Column;
      readonly items: Param;
      readonly arePlain: boolean;
      readonly asShown: boolean;
    }
  | {
      readonly operator: "is_null";
      readonly column: Column;
      readonly value: boolean;
      readonly asShown?: never;
    };

export function isEquality(operator: Filter["operator"]): boolean {
  return operator === "eq" || operator === "ne" || operator === "in";
}

export function isRange(operator: Filter["operator"]): boolean {
  return operator === "lt" || operator === "lte" || operator === "gt" || operator === "gte";
}

/** Whether SQLite would not compare a column of texts as it is shown: see `asShown` of a rule. */
function isAsShown(filter: Filter, physical: CatalogTable | undefined): boolean {
  const { operator, column } = filter;
  const stored = physical?.mixedTexts.get(column.name);
  if (stored === undefined || !(isEquality(operator) || (isRange(operator) && makesNumbers(stored))))
    return false;
  const texts = (filter.operator === "in" ? filter.values : [filter.value]).map(String);
  return texts.some((text) => readsAsNumber(text) && !(isEquality(operator) && isShownNumber(text, stored)));
}

const slotName = (i: number) => `filter.${i}`;

/** The value of a filter, for a rule. */
export function givenFilter(i: number): Given {
  return { kind: "given", name: slotName(i) };
}

export function plannedFilter(filter: Filter, i: number, physical: CatalogTable | undefined): PlannedFilter {
  const { operator, column } = filter;
  if (operator === "is_null") return filter;
  const slot = new Slot(slotName(i));
  const asShown = isAsShown(filter, physical);
  return operator === "in"
    ? { operator, column, items: slot, arePlain: arePlain(filter.values), asShown }
    : { operator, column, value: slot, asShown };
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
export function filterShape(filter: Filter, physical: CatalogTable | undefined): string {
  const { operator, column } = filter;
  const kind = operator === "in" ? arePlain(filter.values) : operator === "is_null" ? filter.value : "";
  return `${column.name} ${operator} ${kind} ${isAsShown(filter, physical)}`;
}

function arePlain(values: readonly SqlValue[]): boolean {
  return values.every((value) => typeof value !== "number" || isPlainReal(value));
}

function jsonItem(value: SqlValue): string {
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" ? realText(value) : JSON.stringify(value);
}
