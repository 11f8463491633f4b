import { type Actor, authValues, isPastRules, permitsOperation } from "../auth/callers/principal.js";
import { Refusal } from "../http/refusal.js";
import type { Expression, Literal } from "../rules/ast.js";
import { neverTrue, TRUE } from "../rules/fold.js";
import { admitsAnonymous, specialise, withParams } from "../rules/specialise.js";
import type { LiveOperation } from "../schema/live-project.js";

/** Refuses a caller who may not run the operation whatever the parameters are; null for others. */
export function callerRefusal(caller: Actor, { operation, rules }: LiveOperation): Refusal | null {
  if (caller.kind === "key") {
    const scope = `operation:${operation.name}`;
    return permitsOperation(caller.scopes, operation.name)
      ? null
      : new Refusal("forbidden", `the key lacks the scope ${scope}`, { facts: { rule: scope } });
  }
  if (caller.kind === "admin") return null;
  const isForNobody = neverTrue(rules.allow);
  const message = isForNobody ? "the operation is for keys alone" : "sign in to do this";
  if (caller.kind === "anonymous" && !admitsAnonymous(rules.allow))
    return new Refusal("unauthorized", message, byRule(operation));
  return isForNobody ? new Refusal("forbidden", message, byRule(operation)) : null;
}

/**
 * The part of the operation's rule that the database has to decide, which names no row, or the literal `TRUE` if
 * nothing is left. A refusal if the rule is certain not to be TRUE.
 */
export function openRule(
  caller: Actor,
  { operation, rules }: LiveOperation,
  literals: ReadonlyMap<string, Literal["value"]>,
  nowSeconds: number,
): Expression | Refusal {
  if (isPastRules(caller)) return TRUE;
  const open = specialise(withParams(rules.allow, literals), authValues(caller), nowSeconds);
  return neverTrue(open) ? denied(operation) : open;
}

/** The 403 for an operation's rule that is not TRUE. */
export function denied(operation: LiveOperation["operation"]): Refusal {
  return new Refusal("forbidden", "the rule of this operation does not allow it", byRule(operation));
}

/** What the request log shows beside a refusal: the key of svc.schema.yaml that holds the operation's rule. */
function byRule({ name }: LiveOperation["operation"]) {
  return { facts: { rule: `$operations.${name}.allow` } };
}
