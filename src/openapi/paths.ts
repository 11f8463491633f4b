import { newPassword } from "../auth/fields.js";
import type { Endpoint, SecurityScheme } from "../http/endpoint.js";
import type { Config } from "../project/config.js";
import type { JsonSchema } from "../wire/schema.js";
import { jsonContent, operation } from "./operation.js";

const anybody: readonly SecurityScheme[] = ["anybody"];

/**
 * The OpenAPI `paths` of endpoints that every project has. The settings say which credentials there are, who may read
 * the document, and how long a new password has to be.
 */
export function documentedPaths(
  tag: string,
  endpoints: readonly Endpoint[],
  { api, auth, console }: Pick<Config, "api" | "auth" | "console">,
): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const { method, path, takes, callers = anybody, opensBy, ...endpoint } of endpoints) {
    const verb = method.toLowerCase();
    const id = `${verb} ${path}`.replace(/\W+/g, "_").replace(/_$/, "");
    const schema = typeof takes === "function" ? takes(newPassword(auth.password_min_length)) : takes;
    const source = {
      id,
      ...endpoint,
      tag,
      callers: [
        ...callers.filter((caller) => caller !== "console" || console.enabled),
        ...(opensBy !== undefined && api[opensBy] ? anybody : []),
      ],
      ...(schema && { body: jsonContent(schema) }),
    };
    paths[path] = { ...paths[path], [verb]: operation(source, auth.cookie_mode) };
  }
  return paths;
}
