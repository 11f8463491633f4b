import type { PlannedStep, SchemaPlan } from "../../wire/plan.js";

/**
 * The plan for a person to read: the hash of the schema in force, then a line for each step, with its hazards below. The
 * steps that only follow from others (`PlannedStep.own`) are one line together.
 */
export function formatPlan(plan: SchemaPlan): string {
  const own = plan.steps.length - shownSteps(plan.steps).length;
  const rest = own === 0 ? [] : [`the server's own triggers and indexes follow (${own} steps, see --sql)`];
  return `${[...header(plan), "", ...shownSteps(plan.steps).map(formatStep), ...rest].join("\n").trimEnd()}\n`;
}

/** The plan as SQL: what `formatPlan` says as comments, and the statements of every step. */
export function formatSql(plan: SchemaPlan): string {
  const head = comment(header(plan).join("\n"));
  const steps = plan.steps.map((step) =>
    [comment(formatStep(step)), ...step.statements.map((sql) => `${sql};`)].join("\n"),
  );
  return `${[head, ...steps].join("\n\n")}\n`;
}

function header({ base, hash, steps }: SchemaPlan): string[] {
  if (steps.length > 0) return [`base: ${base}`, summary(steps)];
  return [`base: ${base}`, base === hash ? "the schema in force" : "no change of the database, a new text"];
}

function summary(steps: readonly PlannedStep[]): string {
  const count = shownSteps(steps).length;
  const blocked = steps.filter(isBlocked).length;
  const waiting = steps.filter(({ safe }) => !safe).length - blocked;
  const parts = [`${count} ${count === 1 ? "step" : "steps"}`];
  if (waiting > 0) parts.push(`${waiting} need --allow-destructive`);
  if (blocked > 0) parts.push(`${blocked} cannot be done`);
  return waiting + blocked === 0 ? `${parts[0]}, all safe` : parts.join(", ");
}

function shownSteps(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  return steps.filter((step) => !step.own || !step.safe || waitOf(step).length > 0);
}

/** Whether the step cannot be carried out, even if a person allows it. */
export function isBlocked({ hazards }: PlannedStep): boolean {
  return hazards.some(({ effect }) => effect === "impossible");
}

/** A step in a line, and below it its hazards, with the number of rows or values concerned. */
export function formatStep(step: PlannedStep): string {
  const { description, hazards } = step;
  const warnings = hazards.map(({ effect, reason, count }) => {
    const word = effect === "impossible" ? "IMPOSSIBLE" : "DESTRUCTIVE";
    return `  ${word}: ${reason}${count === null ? "" : ` (${count})`}`;
  });
  return [description, ...warnings, ...waitOf(step)].join("\n");
}

/** Says that writes wait for the step, if it takes at least a second. */
function waitOf({ rows, writes_wait_ms: waitMs }: PlannedStep): string[] {
  return waitMs < 1000 ? [] : [`  passes over ${rows} rows: writes wait for about ${Math.round(waitMs / 1000)} s`];
}

function comment(text: string): string {
  return text.replaceAll(/^/gm, "-- ");
}
