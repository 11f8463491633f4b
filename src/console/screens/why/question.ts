import type { SchemaTable, TableAction } from "../../../wire/schema-in-force.js";
import { parseValue } from "../../grid/value.js";
import type { TableRow } from "../../server/table-row.js";

/** Whether a call is allowed or not, and why. Who calls is not part of it. */
export interface Question {
  readonly table: string;
  readonly action: TableAction;
  /** What was typed for each column of the row's key. All empty if the question is about a list. */
  readonly key: Readonly<Record<string, string>>;
  /** The values of a write as typed: a JSON object. */
  readonly values: string;
}

/** The actions that can be explained. */
export const actions: readonly TableAction[] = ["read", "create", "update", "delete", "history"];

/** The request body for the server; or what is wrong with the question, or missing in it. */
export type ExplainBody =
  | { readonly body: object }
  | { readonly wrong: "key" | "values"; readonly column: string | null }
  /** The user still has to name the row, or the values of the write. */
  | { readonly missing: "row" | "values" };

/** The body of the request to `/admin/api/explain`, without the member `as`, which says who calls. */
export function explainBody({ table, action, key, values }: Question, shape: SchemaTable): ExplainBody {
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

function valuesOf(text: string): TableRow | null {
  try {
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as TableRow) : null;
  } catch {
    return null;
  }
}

/** Reads a question from an address. By default it is about the first table, and `read`. */
export function questionOf(parameters: URLSearchParams, tables: readonly SchemaTable[]): Question {
  const table = tables.find(({ name }) => name === parameters.get("table")) ?? tables[0]!;
  const action = actions.find((each) => each === parameters.get("action")) ?? "read";
  let key: Record<string, string> = {};
  try {
    const given = JSON.parse(parameters.get("key") ?? "{}") as TableRow;
    key = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  } catch {
    // A key that is not valid JSON is ignored: the question is about no particular row.
  }
  return { table: table.name, action, key, values: parameters.get("values") ?? "" };
}
