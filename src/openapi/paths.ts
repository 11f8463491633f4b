import type { Endpoint } from "../http/endpoint.js";
import type { JsonSchema, Schema } from "../wire/schema.js";
import { jsonContent, operation } from "./operation.js";

/** What the documentation of endpoints depends on beside their descriptions. */
export interface Documented {
  /** Whether cookie mode is on. */
  readonly cookies: boolean;
  /** The schema of a password that is being set. */
  readonly newPassword: Schema<string>;
}

/** Makes the OpenAPI `paths` of endpoints that every project has. */
export function documentedPaths(
  tag: string,
  endpoints: readonly Endpoint[],
  { cookies, newPassword }: Documented,
): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const { method, path, takes, callers = ["anybody"] as const, ...endpoint } of endpoints) {
    const verb = method.toLowerCase();
    const id = `${verb} ${path}`.replace(/\W+/g, "_").replace(/_$/, "");
    const schema = typeof takes === "function" ? takes(newPassword) : takes;
    paths[path] = {
      ...paths[path],
      [verb]: operation(
        { id, ...endpoint, tag, callers, ...(schema && { body: jsonContent(schema) }) },
        cookies,
      ),
    };
  }
  return paths;
}

/** The documentation of an endpoint, for those whose handlers do not describe themselves yet. */
export type Call = Omit<Endpoint, "method" | "path">;

/** Makes endpoints of their documentation by method and path, such as `post /auth/login`. */
export function endpointsOf(calls: Readonly<Record<string, Call>>): Endpoint[] {
  return Object.entries(calls).map(([name, call]) => {
    const [method, path] = name.split(" ") as [string, string];
    return { method: method.toUpperCase() as Endpoint["method"], path, ...call };
  });
}
