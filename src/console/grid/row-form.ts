import type { SchemaColumn } from "../../wire/schema-in-force.js";
import type { TableRow } from "../server/table-row.js";
import { editText, isPreview, parseValue, type ValueProblem } from "./value.js";

/**
 * What the form for a row writes to a column: nothing with `kept`, so that the column stays as it is or, in a new row,
 * gets its default; NULL with `null`; what was typed with `value`.
 */
export type FieldState =
  | { readonly mode: "kept" }
  | { readonly mode: "null" }
  | { readonly mode: "value"; readonly text: string };

/** By column. A column without a state is `kept`. */
export type FieldStates = Readonly<Record<string, FieldState>>;

/** The values that a form writes, or the problems of texts that are no values of their columns' types, by column. */
export type FormValues = { readonly values: TableRow } | { readonly problems: Readonly<Record<string, ValueProblem>> };

/** Reads what a form writes, without values that the column has in `row` already. `row` is null for a new row. */
export function formValues(columns: readonly SchemaColumn[], states: FieldStates, row: TableRow | null): FormValues {
  const values: Record<string, unknown> = {};
  const problems: Record<string, ValueProblem> = {};
  for (const { name, type } of columns) {
    const state = states[name] ?? { mode: "kept" };
    if (state.mode === "kept") continue;
    const parsed = state.mode === "null" ? { value: null } : parseValue(type, state.text);
    if ("problem" in parsed) problems[name] = parsed.problem;
    else if (row === null || JSON.stringify(parsed.value) !== JSON.stringify(row[name])) values[name] = parsed.value;
  }
  return Object.keys(problems).length > 0 ? { problems } : { values };
}

/** Whether people write the column: it is neither generated nor set by the server. */
export function isOfPeople({ generated, managed }: SchemaColumn): boolean {
  return !generated && managed === null;
}

/**
 * The text with which a column's field begins. Empty for NULL, and for a value of which only the beginning is loaded.
 */
export function textAtFirst({ type }: SchemaColumn, value: unknown): string {
  return value === null || value === undefined || isPreview(value) ? "" : editText(type, value);
}

/** A column's default as the form shows it: SQL, or a value as JSON. Null if there is none. */
export function defaultText({ default: otherwise }: SchemaColumn): string | null {
  if (otherwise === null) return null;
  return "sql" in otherwise ? otherwise.sql : JSON.stringify(otherwise.value);
}
