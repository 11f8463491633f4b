import { compare } from "../live/order.js";
import type { Terms } from "../live/overlays.js";

/** Whether a row passes filters: null for SQL's NULL; undefined if that depends on a column that this device lacks. */
export type Passes = boolean | null | undefined;

type Row = Readonly<Record<string, unknown>>;

/** Whether a row is in a list with this `where` and `filter` (`docs/reference/http.md#lists`). */
export function passes(row: Row, { where = {}, filter = {} }: Terms): Passes {
  const equals = Object.entries(where).map(([column, value]) => compares(row[column], "eq", value));
  return all([...equals, group(row, filter)]);
}

function group(row: Row, terms: object): Passes {
  return all(
    Object.entries(terms).flatMap(([key, value]): Passes[] => {
      if (key === "$not") return [not(group(row, value))];
      if (key === "$and") return value.map((each: object) => group(row, each));
      if (key === "$or") return [not(all(value.map((each: object) => not(group(row, each)))))];
      return Object.entries(value as object).map(([operator, operand]) => compares(row[key], operator, operand));
    }),
  );
}

const not = (value: Passes): Passes => (typeof value === "boolean" ? !value : value);

/** The AND of conditions. An unknown one (undefined) prevails over NULL, because it might be false. */
function all(values: readonly Passes[]): Passes {
  if (values.includes(false)) return false;
  if (values.includes(undefined)) return undefined;
  return values.includes(null) ? null : true;
}

function compares(value: unknown, operator: string, operand: unknown): Passes {
  if (value === undefined) return undefined;
  if (operator === "is_null") return (value === null) === operand;
  if (value === null) return null;
  const order = (other: unknown) => compare(value, other);
  const text = String(value);
  switch (operator) {
    case "eq":
      return order(operand) === 0;
    case "ne":
      return order(operand) !== 0;
    case "lt":
      return order(operand) < 0;
    case "lte":
      return order(operand) <= 0;
    case "gt":
      return order(operand) > 0;
    case "gte":
      return order(operand) >= 0;
    case "in":
      return (operand as unknown[]).some((each) => order(each) === 0);
    case "not_in":
      return !(operand as unknown[]).some((each) => order(each) === 0);
    case "contains":
      return text.includes(operand as string);
    case "starts_with":
      return text.startsWith(operand as string);
    case "icontains":
      return asciiLower(text).includes(asciiLower(operand as string));
    default:
      return undefined;
  }
}

/** As SQLite's `lower`, which changes only the letters of ASCII. */
const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
