import type { SchemaColumn } from "../../wire/schema-in-force.js";
import type { TableRow } from "../server/table-row.js";
import { editText, isPreview, parseValue, type ValueProblem } from "./value.js";

/**
 * What the form for a row writes to a column: with `kept` nothing, so that the column stays as it is or, in a new row,
 * gets its default; with `null` NULL; with `value` what was typed.
 */
export type FieldState =
  | { readonly mode: "kept" }
  | { readonly mode: "null" }
  | { readonly mode: "value"; readonly text: string };

/** The states of a form's fields by the names of their columns. A column without one is `kept`. */
export type FieldStates = Readonly<Record<string, FieldState>>;

/**
 * The values that a form writes, by column; or, where a text is not a value of its column's type, the problems, by
 * column.
 */
export type FormValues =
  | { readonly values: TableRow }
  | { readonly problems: Readonly<Record<string, ValueProblem>> };

/**
 * Reads what a form writes from the states of its fields, as values of the columns' types. A value that the column has
 * in `row` already is left out. `row` is null in the form for a new row.
 */
export function formValues(
  columns: readonly SchemaColumn[],
  states: FieldStates,
  row: TableRow | null,
): FormValues {
  const values: Record<string, unknown> = {};
  const problems: Record<string, ValueProblem> = {};
  for (const { name, type } of columns) {
    const state = states[name] ?? { mode: "kept" };
    if (state.mode === "kept") continue;
    const parsed = state.mode === "null" ? { value: null } : parseValue(type, state.text);
    if ("problem" in parsed) problems[name] = parsed.problem;
    else if (row === null || JSON.stringify(parsed.value) !== JSON.stringify(row[name]))
      values[name] = parsed.value;
  }
  return Object.keys(problems).length > 0 ? { problems } : { values };
}

/**
 * Whether the values of a column come from people: they are neither computed by a generated column nor set by the
 * server.
 */
export function isOfPeople({ generated, managed }: SchemaColumn): boolean {
  return !generated && managed === null;
}

/**
 * The text with which a column's field begins. Empty for NULL, and for a value of which only the beginning is loaded.
 */
export function textAtFirst({ type }: SchemaColumn, value: unknown): string {
  return value === null || value === undefined || isPreview(value) ? "" : editText(type, value);
}

/**
 * The default of a column as the form for a new row shows it: SQL, or a value as JSON. Null where the column has no
 * default.
 */
export function defaultText({ default: otherwise }: SchemaColumn): string | null {
  if (otherwise === null) return null;
  return "sql" in otherwise ? otherwise.sql : JSON.stringify(otherwise.value);
}
