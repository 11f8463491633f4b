import type { Column, Row } from "../server/shapes.js";
import { editText, isPreview, parseValue, type ValueProblem } from "./value.js";

/** What a field of a row's form holds. `kept`: what the row has, or in a new row the default. */
export type FieldState =
  | { readonly mode: "kept" }
  | { readonly mode: "null" }
  | { readonly mode: "value"; readonly text: string };

/** The fields of a form, by the names of their columns. */
export type FieldStates = Readonly<Record<string, FieldState>>;

/** The columns that a form changes, or the columns whose texts are no values of their types. */
export type FormValues =
  | { readonly values: Row }
  | { readonly problems: Readonly<Record<string, ValueProblem>> };

/** What a form sends: what was typed, in the columns' types. What is as it was in `row` is left out. */
export function formValues(columns: readonly Column[], states: FieldStates, row: Row | null): FormValues {
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

/** The text of a field before anybody has changed it. */
export function textAtFirst({ type }: Column, value: unknown): string {
  return value === null || value === undefined || isPreview(value) ? "" : editText(type, value);
}

/** What a new row gets in a column that is left out, for people; null where it is nothing. */
export function defaultText({ default: otherwise }: Column): string | null {
  if (otherwise === null) return null;
  return "sql" in otherwise ? otherwise.sql : JSON.stringify(otherwise.value);
}
