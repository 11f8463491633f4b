import type { AnsweredRequest } from "../../../wire/requests.js";
import type { TableAction } from "../../../wire/schema-in-force.js";

const actionOfMethod: Readonly<Record<string, TableAction>> = {
  GET: "read",
  HEAD: "read",
  QUERY: "read",
  POST: "create",
  PATCH: "update",
  DELETE: "delete",
};

/**
 * For a request that a rule has refused, the parameters of the screen that explains it: caller, table and action. The
 * request log has only patterns of paths, such as `/api/:table`, so the table comes from the rule's name. Null if no
 * rule has refused the request.
 */
export function whyOf({ status, rule, method, principal }: AnsweredRequest): Readonly<Record<string, string>> | null {
  const [, table, ruleAction] = /^rules\.(\w+)(?:\.(read|create|update|delete|history))?/.exec(rule ?? "") ?? [];
  if (table === undefined || (status !== 403 && status !== 401 && status !== 404)) return null;
  const action = ruleAction ?? actionOfMethod[method] ?? "read";
  const isKnown = principal !== null && principal.id !== null && ["user", "key", "admin"].includes(principal.kind);
  const as = isKnown ? `${principal.kind === "key" ? "key" : "user"}:${principal.id}` : "anonymous";
  return { table, action, as };
}
