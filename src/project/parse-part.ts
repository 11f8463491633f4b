import * as v from "valibot";
import type { Problem } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import { soundPart } from "./sound-part.js";
import { valibotProblems } from "./valibot-problems.js";

/** The valid part of the value at `at` in svc.schema.yaml, null for none; adds the value's problems to `problems`. */
export function parsePart<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  at: string,
  problems: Problem[],
): v.InferOutput<S> | null {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  for (const problem of valibotProblems(schemaFile, result.issues))
    problems.push({ ...problem, path: [at, problem.path].filter((part) => part !== "").join(".") });
  return soundPart(schema, value);
}
