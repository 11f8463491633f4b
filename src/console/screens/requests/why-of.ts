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
 * For a request that a rule has refused, the parameters of the screen which explains the refusal: the caller, the table
 * and the action. The request log has only the patterns of paths, such as `/api/:table`, so the table is taken from the
 * name of the rule. Null where no rule has refused the request.
 */
export function whyOf({
  status,
  rule,
  method,
  principal,
}: AnsweredRequest): Readonly<Record<string, string>> | null {
  const [, table, ruleAction] =
    /^rules\.(\w+)(?:\.(read|create|update|delete|history))?/.exec(rule ?? "") ?? [];
  if (table === undefined || (status !== 403 && status !== 401 && status !== 404)) return null;
  const action = ruleAction ?? actionOfMethod[method] ?? "read";
  const isKnown =
    principal !== null && principal.id !== null && ["user", "key", "admin"].includes(principal.kind);
  const as = isKnown ? `${principal.kind === "key" ? "key" : "user"}:${principal.id}` : "anonymous";
  return { table, action, as };
}
