import type { Problem } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import { readYaml } from "./read-yaml.js";
import { isPlainObject } from "./valibot-problems.js";

/**
 * The entries of svc.schema.yaml that begin with `$`, and the tables, with unchecked values; or the problems of the
 * text.
 */
export type SchemaDocument =
  | {
      readonly outcome: "read";
      readonly settings: Record<string, unknown>;
      readonly tables: readonly (readonly [name: string, value: unknown])[];
    }
  | { readonly outcome: "invalid"; readonly problems: readonly Problem[] };

/** Parses svc.schema.yaml as YAML. It reports mistakes of syntax, too many aliases, and a text that is no map. */
export function readSchemaYaml(text: string): SchemaDocument {
  const read = readYaml(text, schemaFile);
  if (read.outcome === "invalid") return read;
  const value = read.value ?? {};
  if (!isPlainObject(value))
    return {
      outcome: "invalid",
      problems: [{ file: schemaFile, path: "", message: "expected a map of tables" }],
    };
  const entries = Object.entries(value);
  return {
    outcome: "read",
    settings: Object.fromEntries(entries.filter(([key]) => key.startsWith("$"))),
    tables: entries.filter(([key]) => !key.startsWith("$")),
  };
}
