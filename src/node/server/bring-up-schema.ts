import type { Database } from "../../platform/database.js";
import type { Log } from "../../platform/platform.js";
import { formatProblem, ProblemsError } from "../../problems/problem.js";
import { comparisonWarnings } from "../../project/comparison-warnings.js";
import type { Schema } from "../../project/model.js";
import { type ApplyOutcome, applySafe } from "../../schema/apply.js";
import { fitRules } from "../../schema/fit-rules.js";
import { loadSchemaInForce, parseOnce } from "../../schema/in-force.js";
import { formatStep } from "../../schema/plan/format-plan.js";
import { proveOperations } from "../../schema/prove-operations.js";
import { relaxOwnTables } from "../../schema/system/relaxed-tables.js";
import { unservedExists } from "../../tables/plan/unserved-exists.js";
import { problemsWith, withoutWays } from "../../tables/plan/without-ways.js";
import type { PlannedStep } from "../../wire/plan.js";
import { databaseFile } from "../database/database-file.js";
import { bringUpProjectDatabase } from "../project-database.js";
import { type ProjectDirectory, withConfigLines } from "../project-directory.js";
import { systemClock } from "../system.js";

/** What has become of svc.schema.yaml. */
export interface BroughtUp {
  /** The schema in force; null if none has been applied yet. */
  readonly schema: Schema | null;
  /** The steps that were taken. */
  readonly steps: readonly PlannedStep[];
  /** The steps that wait for a person, so that none was taken. */
  readonly waits: readonly PlannedStep[];
}

/**
 * Applies svc.schema.yaml, unless `schema.auto_apply` is false, if every step of the change is safe and none passes
 * over too many rows (`schema.auto_apply_max_rows`), and else not at all
 * (`docs/reference/schema.md#changing-the-schema`). Throws ProblemsError if the rules do not fit the schema that is
 * then in force.
 */
export async function bringUpSchema(project: ProjectDirectory, database: Database, log: Log): Promise<BroughtUp> {
  const { config, schemaText } = project;
  const fits = (schema: Schema) => problemsWith(config, schema);
  const outcome = config.schema.auto_apply
    ? await applySafe(database, schemaText, {
        now: systemClock.now(),
        fits,
        rowsMax: config.schema.auto_apply_max_rows,
      })
    : null;
  if (outcome !== null) reportOutcome(outcome, project, log);
  // Applying a schema has brought up the server's own tables already.
  if (outcome === null || outcome.outcome === "refused") await bringUpProjectDatabase(project, database);
  if (databaseFile(config, project.directory) !== null) await relaxOwnTables(database);
  const inForce = await loadSchemaInForce(database);
  if (inForce === null) {
    log.warn("no schema has been applied yet, so every request answers 503: see `svc schema apply`");
    return { schema: null, steps: [], waits: waitsOf(outcome) };
  }
  const { rules, problems } = fitRules(config, inForce);
  const proofs = await proveOperations(database, inForce.schema);
  const unproved = [...proofs.values()].flatMap((proof) => proof.problems);
  const scanned = withoutWays(config, rules, inForce.schema, inForce.catalog);
  if (problems.length + unproved.length + scanned.length > 0)
    throw new ProblemsError(withConfigLines(project, [...problems, ...unproved, ...scanned]));
  const warnings = [...comparisonWarnings(rules), ...unservedExists(rules, inForce.catalog)];
  for (const warning of withConfigLines(project, warnings)) log.warn(formatProblem(warning));
  const staying = columnsToGo(inForce.schema, parseOnce(schemaText).schema);
  if (staying.length > 0)
    log.warn(
      `in force until \`svc schema apply\` drops them, and open to whoever may read and write their tables, as svc.toml has no rules for them: ${staying.join(", ")}`,
    );
  const steps = outcome?.outcome === "applied" ? outcome.steps : [];
  return { schema: inForce.schema, steps: ownersSteps(steps), waits: waitsOf(outcome) };
}

/** The steps that a change of the schema leaves to a person. */
function waitsOf(outcome: ApplyOutcome | null): readonly PlannedStep[] {
  return outcome?.outcome === "refused" && "steps" in outcome ? ownersSteps(outcome.steps) : [];
}

/** Without those that only follow from others. */
export function ownersSteps(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  return steps.filter(({ own }) => own !== true);
}

/** The columns, as `table.column`, that svc.schema.yaml no longer has, in tables that it still has. */
function columnsToGo(inForce: Schema, proposed: Schema | null): readonly string[] {
  return [...inForce.tables.values()].flatMap(({ name, columns }) => {
    const kept = proposed?.tables.get(name)?.columns;
    return [...columns.keys()].filter((column) => kept?.has(column) === false).map((c) => `${name}.${c}`);
  });
}

function reportOutcome(outcome: ApplyOutcome, project: ProjectDirectory, log: Log): void {
  if (outcome.outcome !== "refused") return;
  switch (outcome.reason) {
    case "invalid":
    case "rules_do_not_fit":
      throw new ProblemsError(withConfigLines(project, outcome.problems));
    case "destructive":
    case "constraint": {
      const isConstraint = outcome.reason === "constraint";
      const waiting = outcome.steps.filter(({ safe }) => !isConstraint || !safe).map(formatStep);
      const reason = isConstraint ? [outcome.message] : [];
      log.warn(
        [
          "svc.schema.yaml is not in force: steps wait for `svc schema apply --allow-destructive`",
          ...reason,
          ...waiting,
        ].join("\n"),
      );
      return;
    }
    case "base_moved":
      log.warn("another process has applied a schema meanwhile, which is now in force");
  }
}
