import type { Problem } from "../problems/problem.js";
import { closing, isSymbol, tokenize } from "../sqlite/sql-tokens.js";
import { schemaFile } from "./file-names.js";
import type { Schema } from "./model.js";
import { operationPath } from "./parse-operations.js";

/** Warnings of defaults that are texts and look like SQL, such as `now()`: the text itself would be stored. */
export function defaultWarnings({ tables, operations }: Schema): Problem[] {
  const warning = (path: string, text: string, advice: string) => ({
    file: schemaFile,
    path,
    message: `default: ${text} is a text here, and is stored as it stands${advice}`,
  });
  return [
    ...[...tables.values()].flatMap((table) =>
      [...table.columns.values()].flatMap(({ name, default: value }) =>
        value?.kind === "literal" && looksLikeSql(value.value)
          ? [
              warning(
                `${table.name}.columns.${name}`,
                value.value,
                `: an expression is written { sql: ${JSON.stringify(value.value)} }`,
              ),
            ]
          : [],
      ),
    ),
    ...[...operations.values()].flatMap((operation) =>
      [...operation.params.values()].flatMap(({ name, default: value }) =>
        looksLikeSql(value)
          ? [warning(operationPath(operation.name, "params", name), value, ": write the expression in a step")]
          : [],
      ),
    ),
  ];
}

/** Whether a value is a text that is wholly a call, such as `lower(x)`, or a keyword for the time. */
function looksLikeSql(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const [first, second, ...rest] = tokenize(value);
  if (first?.kind !== "word") return false;
  if (second === undefined) return /^current_(timestamp|date|time)$/i.test(first.text);
  // In a sentence such as `Untitled (draft)` a space comes before the parenthesis.
  const isCall = isSymbol(second, "(") && second.start === first.start + first.text.length;
  return isCall && closing([first, second, ...rest], 1) === rest.length + 1;
}
