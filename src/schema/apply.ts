import { type Database, type Statement, UnavailableError } from "../platform/database.js";
import type { Problem } from "../problems/problem.js";
import type { Schema } from "../project/model.js";
import { loadSchemaInForce } from "./in-force.js";
import type { DiffOptions } from "./plan/diff.js";
import { noBase, type Plan, planChange } from "./plan/plan.js";
import type { PlannedStep } from "./plan/steps.js";
import { bringUpSystemTables, hasMoved, migrationStatements } from "./system/bring-up.js";

/** How a change is carried out. */
export interface ApplyOptions extends DiffOptions {
  /** A person's word for steps that lose something (docs/reference/schema.md). */
  readonly allowDestructive: boolean;
  /** The hash that the change starts from, `none` for an empty database; anything else in force refuses. */
  readonly base?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What of the rules would not fit the proposal. */
  readonly fits?: (schema: Schema) => readonly Problem[];
}

/** What became of a change. */
export type ApplyOutcome =
  | {
      readonly outcome: "applied";
      readonly version: number;
      readonly hash: string;
      readonly steps: readonly PlannedStep[];
    }
  | { readonly outcome: "unchanged"; readonly version: number; readonly hash: string }
  | ({ readonly outcome: "refused" } & ApplyRefusal);

/** Nothing was changed. */
export type ApplyRefusal =
  /** Another schema is in force than the change starts from. */
  | { readonly reason: "base_moved"; readonly inForce: string }
  /** Steps wait for a person: those of `steps` that are not safe. */
  | { readonly reason: "destructive"; readonly steps: readonly PlannedStep[] }
  | { readonly reason: "rules_do_not_fit"; readonly problems: readonly Problem[] }
  /** It cannot be done while rows, triggers or views are as they are, with or without a person's word. */
  | { readonly reason: "constraint"; readonly message: string; readonly steps: readonly PlannedStep[] }
  | { readonly reason: "invalid"; readonly problems: readonly Problem[] };

/** Carries out a change in one transaction, with what the service's own tables lack, or says why not. */
export async function applyChange(
  database: Database,
  proposedText: string,
  options: ApplyOptions,
): Promise<ApplyOutcome> {
  const planned = await planChange(database, proposedText, options);
  if (planned.outcome === "invalid")
    return { outcome: "refused", reason: "invalid", problems: planned.problems };
  const { plan } = planned;
  const refusal = refusalOf(plan, options);
  if (refusal !== null) return { outcome: "refused", ...refusal };
  if (plan.hash === plan.base && plan.steps.length === 0) {
    const isUp = plan.migrations.due.length === 0;
    const problem = isUp ? null : await bringUpSystemTables(database, options.now);
    if (problem !== null) return { outcome: "refused", reason: "invalid", problems: [problem] };
    return { outcome: "unchanged", version: plan.baseVersion, hash: plan.hash };
  }
  const outcome = await carryOut(database, plan, options.now);
  return outcome === "migrated_meanwhile" ? applyChange(database, proposedText, options) : outcome;
}

/** At start: safe steps alone. Steps that wait for a person come back as the refusal `destructive`. */
export function applySafe(
  database: Database,
  proposedText: string,
  options: Omit<ApplyOptions, "allowDestructive" | "base">,
): Promise<ApplyOutcome> {
  return applyChange(database, proposedText, { ...options, allowDestructive: false });
}

function refusalOf(
  { base, schema, steps }: Plan,
  { allowDestructive, fits, ...options }: ApplyOptions,
): ApplyRefusal | null {
  if (options.base !== undefined && options.base !== base) return { reason: "base_moved", inForce: base };
  const problems = fits?.(schema) ?? [];
  if (problems.length > 0) return { reason: "rules_do_not_fit", problems };
  const impossible = steps.flatMap(({ hazards }) => hazards.filter(({ effect }) => effect === "impossible"));
  if (impossible.length > 0)
    return {
      reason: "constraint",
      message: impossible
        .map(({ reason, count }) => (count === null ? reason : `${reason} (${count})`))
        .join("\n"),
      steps,
    };
  return allowDestructive || steps.every(({ safe }) => safe) ? null : { reason: "destructive", steps };
}

async function carryOut(
  database: Database,
  plan: Plan,
  now: number,
): Promise<ApplyOutcome | "migrated_meanwhile"> {
  const version = plan.baseVersion + 1;
  const changes = plan.steps.flatMap(({ statements }) => statements);
  // The version comes first: whoever applied a schema meanwhile has taken it, and nothing else is tried.
  const statements = [
    ...migrationStatements(plan.migrations, now),
    newVersion(version, plan, now),
    ...changes.map(statement),
  ];
  try {
    // What changes no table needs no check of every foreign key, which an adopted database may not pass.
    if (changes.length === 0) await database.batch(statements);
    else await database.migrate(statements);
  } catch (error) {
    if (error instanceof UnavailableError || !(error instanceof Error)) throw error;
    if (await hasMoved(database, plan.migrations)) return "migrated_meanwhile";
    return { outcome: "refused", ...(await failure(database, plan, error)) };
  }
  return { outcome: "applied", version, hash: plan.hash, steps: plan.steps };
}

async function failure(database: Database, plan: Plan, error: Error): Promise<ApplyRefusal> {
  const inForce = await loadSchemaInForce(database);
  if ((inForce?.version ?? 0) !== plan.baseVersion)
    return { reason: "base_moved", inForce: inForce?.hash ?? noBase };
  return { reason: "constraint", message: `the database refuses: ${error.message}`, steps: plan.steps };
}

function statement(sql: string): Statement {
  return { sql, params: [] };
}

function newVersion(version: number, { hash, text }: Plan, now: number): Statement {
  return {
    sql: "INSERT INTO _schema (version, hash, text, applied_at) VALUES (?, ?, ?, ?)",
    params: [BigInt(version), hash, text, BigInt(now)],
  };
}
