import type { PlannedStep } from "../../wire/plan.js";
import type { Plan } from "./plan.js";

/** The plan as SQL for a person to read: the hash of the schema in force, then each step with a comment above it. */
export function formatPlan(plan: Plan): string {
  return `${[header(plan), ...plan.steps.map(formatStep)].join("\n\n")}\n`;
}

function header({ base, hash, steps }: Plan): string {
  if (steps.length > 0) return `-- base: ${base}\n-- ${summary(steps)}`;
  return `-- base: ${base}\n-- ${base === hash ? "the schema in force" : "no change of the database, a new text"}`;
}

function summary(steps: readonly PlannedStep[]): string {
  const blocked = steps.filter(({ hazards }) => hazards.some(({ effect }) => effect === "impossible")).length;
  const waiting = steps.filter(({ safe }) => !safe).length - blocked;
  const parts = [`${steps.length} ${steps.length === 1 ? "step" : "steps"}`];
  if (waiting > 0) parts.push(`${waiting} need --allow-destructive`);
  if (blocked > 0) parts.push(`${blocked} cannot be done`);
  return waiting + blocked === 0 ? `${parts[0]}, all safe` : parts.join(", ");
}

/**
 * The description and hazards as comments, the hazards with the number of rows or values concerned, then the
 * statements.
 */
export function formatStep({ description, hazards, statements }: PlannedStep): string {
  const warnings = hazards.map(({ effect, reason, count }) => {
    const word = effect === "impossible" ? "IMPOSSIBLE" : "DESTRUCTIVE";
    return comment(`${word}: ${reason}${count === null ? "" : ` (${count})`}`);
  });
  return [comment(description), ...warnings, ...statements.map((sql) => `${sql};`)].join("\n");
}

function comment(text: string): string {
  return text.replaceAll(/^/gm, "-- ");
}
