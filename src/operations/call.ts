import { type Actor, authValues } from "../auth/callers/principal.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import type { SqlValue } from "../platform/database.js";
import type { LiveOperation, LiveProject } from "../schema/live-project.js";
import { asShown } from "../tables/access/as-shown.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import type { KeptRequest } from "../tables/sql/kept-answers.js";
import { callerRefusal, openRule } from "./allowed.js";
import { asLiterals, checkRefusal, type ParamValues } from "./params.js";
import { type RanOperation, runOperation } from "./run.js";

/** A call of an operation by a caller. */
export interface OperationCall {
  readonly live: LiveOperation;
  readonly caller: Actor;
  readonly project: Pick<LiveProject, "schema" | "catalog">;
  readonly nowMs: number;
}

/**
 * Refuses a caller who may not call the operation whatever the parameters are, and everybody if the operation does not
 * fit the schema in force.
 */
export function callRefusal({ live, caller }: Pick<OperationCall, "live" | "caller">): Refusal | null {
  return callerRefusal(caller, live) ?? (live.proof.problems.length > 0 ? notProved : null);
}

const notProved = new Refusal("unavailable", "the operation does not fit the schema in force");

/**
 * Carries out a call that `callRefusal` has not refused: checks the parameters and the operation's rule, and runs its
 * steps. `begin` is called right before anything is sent to the database. `kept` is set for a request with an
 * `Idempotency-Key`, which is carried out only once.
 */
export async function callOperation(
  { live, caller, project, nowMs }: OperationCall,
  params: ParamValues,
  begin: () => WriteExecution,
  kept: KeptRequest | null = null,
): Promise<RanOperation | Refusal> {
  const { operation, rules, proof } = live;
  const auth = authValues(caller);
  const nowSeconds = Math.floor(nowMs / 1000);
  const literals = asLiterals(operation, params);
  const broken = checkRefusal(rules, literals, auth, nowSeconds);
  if (broken !== null) return broken;
  const open = openRule(caller, live, literals, nowSeconds);
  if (isRefusal(open)) return open;
  const allow = asShown(open, null, project.catalog);
  const given = new Map<string, SqlValue>([
    ["auth_id", auth.id],
    ["auth_email", auth.email],
    ["auth_role", auth.role],
    ["now", BigInt(nowSeconds)],
  ]);
  const execution = begin();
  const values = [params, given, execution.values];
  return runOperation({ operation, allow, project, values }, proof.isShort, execution, kept);
}
