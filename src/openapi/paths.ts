import type { JsonSchema } from "./column-schema.js";
import { json, type OperationSource, operation } from "./operation.js";

/** An endpoint that every project has. */
export type Call = Omit<OperationSource, "id" | "tag" | "callers"> & {
  /** Without: anybody. */
  readonly callers?: OperationSource["callers"];
  /** The body's JSON, instead of `body`. */
  readonly takes?: JsonSchema;
};

/** Paths and operations, from endpoints by `method path`. */
export function pathsOf(tag: string, calls: Readonly<Record<string, Call>>, cookies: boolean): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, { takes, callers = ["anybody"] as const, ...call }] of Object.entries(calls)) {
    const [method, path] = name.split(" ") as [string, string];
    const id = name.replace(/\W+/g, "_").replace(/_$/, "");
    paths[path] = {
      ...paths[path],
      [method]: operation({ ...call, id, tag, callers, ...(takes && { body: json(takes) }) }, cookies),
    };
  }
  return paths;
}
