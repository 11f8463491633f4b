import { type Database, type Statement, statement, UnavailableError } from "../platform/database.js";
import type { Problem } from "../problems/problem.js";
import type { Schema } from "../project/model.js";
import type { PlannedStep } from "../wire/plan.js";
import { loadSchemaInForce } from "./in-force.js";
import type { DiffOptions } from "./plan/diff.js";
import { noBase, type Plan, planChange } from "./plan/plan.js";
import type { Planner } from "./plan/planner.js";
import { stepExplanations } from "./prove-operations.js";
import { bringUpSystemTables, hasMoved, migrationStatements } from "./system/bring-up.js";

/** Under which conditions a change of the schema is carried out. */
export interface ApplyOptions extends DiffOptions {
  /** Whether a person has allowed destructive steps (docs/reference/schema.md#steps-and-their-hazards). */
  readonly allowDestructive: boolean;
  /**
   * A step that passes over more rows than this, so that writes wait, is left for a person. If absent, there is no such
   * bound.
   */
  readonly rowsMax?: number;
  /**
   * The hash of the schema that has to be in force, or `none` for a database without one; if another schema is in
   * force, nothing is applied. If absent, any schema may be in force.
   */
  readonly base?: string;
  /** In milliseconds since the epoch. */
  readonly now: number;
  /**
   * The problems that the rules of svc.toml would have with the proposed schema. If there are any, nothing is applied.
   */
  readonly fits?: (schema: Schema) => readonly Problem[];
  /** Plans the change instead of `planChange`. */
  readonly planner?: Planner["plan"];
}

/** The outcome of applying a schema. */
export type ApplyOutcome =
  | {
      readonly outcome: "applied";
      readonly version: number;
      readonly hash: string;
      readonly steps: readonly PlannedStep[];
    }
  | { readonly outcome: "unchanged"; readonly version: number; readonly hash: string }
  | ({ readonly outcome: "refused" } & ApplyRefusal);

/** Why a change of the schema was not carried out. Nothing was changed then. */
export type ApplyRefusal =
  /** Another schema is in force than the one that the change starts from. */
  | { readonly reason: "base_moved"; readonly inForce: string }
  /** These steps wait for a person: they are not `safe`, and `allowDestructive` was not given, or pass `rowsMax`. */
  | { readonly reason: "destructive"; readonly steps: readonly PlannedStep[] }
  | { readonly reason: "rules_do_not_fit"; readonly problems: readonly Problem[] }
  /** The change is impossible while rows, triggers or views are as they are, with or without `allowDestructive`. */
  | { readonly reason: "constraint"; readonly message: string; readonly steps: readonly PlannedStep[] }
  /** `more` as in `PlanOutcome`. */
  | { readonly reason: "invalid"; readonly problems: readonly Problem[]; readonly more?: number };

/**
 * Applies a proposed schema in one transaction, together with the migrations of the server's own tables that are due.
 * If nothing is to be changed, only those are run, and the outcome is `unchanged`. After a refusal, the schema in force
 * stays.
 */
export async function applyChange(
  database: Database,
  proposedText: string,
  options: ApplyOptions,
): Promise<ApplyOutcome> {
  const { planner = (of, text) => planChange(of, text, options) } = options;
  const planned = await planner(database, proposedText);
  if (planned.outcome === "invalid") return { ...planned, outcome: "refused", reason: "invalid" };
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

/** Applies a proposed schema at start if all steps are safe and none is too long, and else nothing. */
export function applySafe(
  database: Database,
  proposedText: string,
  options: Omit<ApplyOptions, "allowDestructive" | "base">,
): Promise<ApplyOutcome> {
  return applyChange(database, proposedText, { ...options, allowDestructive: false });
}

function refusalOf(
  { base, schema, steps }: Plan,
  { allowDestructive, fits, rowsMax = Number.POSITIVE_INFINITY, ...options }: ApplyOptions,
): ApplyRefusal | null {
  if (options.base !== undefined && options.base !== base) return { reason: "base_moved", inForce: base };
  const problems = fits?.(schema) ?? [];
  if (problems.length > 0) return { reason: "rules_do_not_fit", problems };
  const impossible = steps.flatMap(({ hazards }) => hazards.filter(({ effect }) => effect === "impossible"));
  if (impossible.length > 0)
    return {
      reason: "constraint",
      message: impossible.map(({ reason, count }) => (count === null ? reason : `${reason} (${count})`)).join("\n"),
      steps,
    };
  const waiting = steps.filter((step) => (!allowDestructive && !step.safe) || isLong(step, rowsMax));
  return waiting.length === 0 ? null : { reason: "destructive", steps: waiting };
}

/** Whether a step passes over more rows than `rowsMax`, so that writes wait meanwhile. */
export function isLong({ rows, writes_wait_ms: waitMs }: PlannedStep, rowsMax: number): boolean {
  return rows > rowsMax && waitMs > 0;
}

async function carryOut(database: Database, plan: Plan, now: number): Promise<ApplyOutcome | "migrated_meanwhile"> {
  const version = plan.baseVersion + 1;
  const changes = plan.steps.flatMap(({ statements }) => statements);
  // This row comes before the changes: if another process has applied a schema meanwhile, its key is taken, and none of
  // the changes is tried.
  const statements = [
    ...migrationStatements(plan.migrations, now),
    newVersion(version, plan, now),
    ...changes.map((sql) => statement(sql)),
    ...stepExplanations(plan.schema, plan.hash),
  ];
  try {
    // `Database.migrate` also checks every foreign key of the database, which is not needed if no table changes.
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
  if ((inForce?.version ?? 0) !== plan.baseVersion) return { reason: "base_moved", inForce: inForce?.hash ?? noBase };
  return { reason: "constraint", message: `the database refuses: ${error.message}`, steps: plan.steps };
}

function newVersion(version: number, { hash, text }: Plan, now: number): Statement {
  return statement(
    "INSERT INTO _schema (version, hash, text, applied_at) VALUES (?, ?, ?, ?)",
    BigInt(version),
    hash,
    text,
    BigInt(now),
  );
}
