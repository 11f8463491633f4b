import * as v from "valibot";
import type { Problem } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import { soundPart } from "./sound-part.js";
import { problemsOf } from "./valibot-problems.js";

/**
 * Parses the value at the path `at` of svc.schema.yaml, as far as it is valid, and adds its problems to `problems`.
 * Null where nothing of it is valid.
 */
export function parsePart<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  at: string,
  problems: Problem[],
): v.InferOutput<S> | null {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  for (const problem of problemsOf(schemaFile, result.issues))
    problems.push({ ...problem, path: [at, problem.path].filter((part) => part !== "").join(".") });
  return soundPart(schema, value);
}
