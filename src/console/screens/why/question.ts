import { parseValue } from "../../grid/value.js";
import type { Action, Row, TableShape } from "../../server/shapes.js";

/** What somebody wants to have explained. */
export interface Question {
  readonly table: string;
  readonly action: Action;
  /** The columns of the key as texts; all empty for a list. */
  readonly key: Readonly<Record<string, string>>;
  /** The values of a write, as JSON. */
  readonly values: string;
}

/** What can be asked about. */
export const actions: readonly Action[] = ["read", "create", "update", "delete", "history"];

/** The parts of a question as the server takes them, or why they are none. */
export type AskedFor =
  | { readonly body: object }
  | { readonly wrong: "key" | "values"; readonly column: string | null }
  /** Something has to be said before there is an answer. */
  | { readonly missing: "row" | "values" };

/** A question as the body of a request, without who asks. */
export function bodyOf({ table, action, key, values }: Question, shape: TableShape): AskedFor {
  const parts: Record<string, unknown> = { action, table };
  const isOfRow = action === "update" || action === "delete";
  if (action !== "create" && Object.values(key).some((text) => text !== "")) {
    const parsed: Record<string, unknown> = {};
    for (const name of shape.primary_key) {
      const type = shape.columns.find((column) => column.name === name)?.type ?? "text";
      const value = parseValue(type, key[name] ?? "");
      if ("problem" in value || key[name] === undefined) return { wrong: "key", column: name };
      parsed[name] = value.value;
    }
    parts.key = parsed;
  } else if (isOfRow) return { missing: "row" };
  if (action === "create" || action === "update") {
    const given = valuesOf(values);
    if (given === null) return { wrong: "values", column: null };
    if (action === "update" && Object.keys(given).length === 0) return { missing: "values" };
    parts.values = given;
  }
  return { body: parts };
}

function valuesOf(text: string): Row | null {
  try {
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Row) : null;
  } catch {
    return null;
  }
}

/** The question that an address holds. */
export function questionOf(parameters: URLSearchParams, tables: readonly TableShape[]): Question {
  const table = tables.find(({ name }) => name === parameters.get("table")) ?? tables[0]!;
  const action = actions.find((each) => each === parameters.get("action")) ?? "read";
  let key: Record<string, string> = {};
  try {
    const given = JSON.parse(parameters.get("key") ?? "{}") as Row;
    key = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  } catch {
    // An address that somebody has mistyped asks for no row.
  }
  return { table: table.name, action, key, values: parameters.get("values") ?? "" };
}
