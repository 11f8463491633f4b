import type { Action, Asked } from "../../server/shapes.js";

const actionOfMethod: Readonly<Record<string, Action>> = {
  GET: "read",
  HEAD: "read",
  QUERY: "read",
  POST: "create",
  PATCH: "update",
  DELETE: "delete",
};

/**
 * The parameters of the screen that explains a refusal: who, which table and what they wanted. The log has the patterns of
 * paths alone, so that the table is that of the rule; null where no rule has refused.
 */
export function whyOf({ status, rule, method, principal }: Asked): Readonly<Record<string, string>> | null {
  const [, table, ruleAction] =
    /^rules\.(\w+)(?:\.(read|create|update|delete|history))?/.exec(rule ?? "") ?? [];
  if (table === undefined || (status !== 403 && status !== 401 && status !== 404)) return null;
  const action = ruleAction ?? actionOfMethod[method] ?? "read";
  const isKnown =
    principal !== null && principal.id !== null && ["user", "key", "admin"].includes(principal.kind);
  const as = isKnown ? `${principal.kind === "key" ? "key" : "user"}:${principal.id}` : "anonymous";
  return { table, action, as };
}
