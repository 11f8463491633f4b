import type { JsonSchema } from "./column-schema.js";
import { jsonContent, type OperationSource, operation } from "./operation.js";

/**
 * The documentation of an endpoint that every project has, such as `POST /auth/login`. `documentedPaths` adds its id
 * and its tag.
 */
export type Call = Omit<OperationSource, "id" | "tag" | "callers"> & {
  /**
   * The operation's id, given only where the id that is made of method and path would be the same as another
   * endpoint's.
   */
  readonly id?: string;
  /** The credentials by which the endpoint can be called; if absent, anybody can call it. */
  readonly callers?: OperationSource["callers"];
  /** The schema of a JSON body. It is given instead of `body`. */
  readonly takes?: JsonSchema;
};

/**
 * Makes the OpenAPI `paths` of endpoints that every project has. The keys of `calls` are method and path, such as
 * `post /auth/login`. `cookies`: whether cookie mode is on.
 */
export function documentedPaths(
  tag: string,
  calls: Readonly<Record<string, Call>>,
  cookies: boolean,
): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, { takes, callers = ["anybody"] as const, ...call }] of Object.entries(calls)) {
    const [method, path] = name.split(" ") as [string, string];
    const id = name.replace(/\W+/g, "_").replace(/_$/, "");
    paths[path] = {
      ...paths[path],
      [method]: operation({ id, ...call, tag, callers, ...(takes && { body: jsonContent(takes) }) }, cookies),
    };
  }
  return paths;
}
