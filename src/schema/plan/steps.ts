import type { AssessedHazard, PlannedStep, StepKind } from "../../wire/plan.js";

/** One change of the database's schema. A plan lists its steps in the order in which they are carried out. */
export interface Step {
  readonly kind: StepKind;
  /** In one line for a person. */
  readonly description: string;
  /**
   * In the order in which they are carried out. None if nothing is to be done, such as for a table that is only
   * adopted.
   */
  readonly statements: readonly string[];
  readonly hazards: readonly Hazard[];
  /**
   * Whether the file does not ask for the step. It follows from other steps: it sets the server's own triggers aside, or
   * makes something again that has to be as it was.
   */
  readonly isOwn?: true;
}

/** A reason why a step may not be safe (docs/reference/schema.md#steps-and-their-hazards). */
export interface Hazard {
  /** `destructive` needs a person's permission; `impossible` prevents the step. */
  readonly effect: "destructive" | "impossible";
  /** What the step would lose, or what keeps it from being done, for a person. */
  readonly reason: string;
  /**
   * A query for how many rows or values the hazard concerns, in the database before the plan. Null if nothing is
   * counted.
   */
  readonly count: string | null;
  /** Whether the hazard is left out if the query `count` returns zero. */
  readonly onlyIfCounted: boolean;
}

/** The step always loses something. `count` is the query for how much. */
export function destructive(reason: string, count: string | null = null): Hazard {
  return { effect: "destructive", reason, count, onlyIfCounted: false };
}

/** The step loses something unless the query `count` returns zero. */
export function destructiveIfAny(reason: string, count: string): Hazard {
  return { effect: "destructive", reason, count, onlyIfCounted: true };
}

/** The step cannot be carried out in any case. */
export function impossible(reason: string): Hazard {
  return { effect: "impossible", reason, count: null, onlyIfCounted: false };
}

/** The step cannot be carried out unless the query `count` returns zero. */
export function impossibleIfAny(reason: string, count: string): Hazard {
  return { effect: "impossible", reason, count, onlyIfCounted: true };
}

/** In the order in which `assess` takes their results. */
export function countQueries(steps: readonly Step[]): string[] {
  return steps.flatMap(({ hazards }) => hazards.flatMap(({ count }) => (count === null ? [] : [count])));
}

/** Puts the results of `countQueries` into the hazards. Hazards that vanish at a count of zero are left out. */
export function assess(steps: readonly Step[], counts: readonly number[]): PlannedStep[] {
  const remaining = [...counts];
  return steps.map(({ kind, description, statements, hazards, isOwn = false }) => {
    const found = hazards.flatMap(({ effect, reason, count, onlyIfCounted }): AssessedHazard[] => {
      const counted = count === null ? null : (remaining.shift() ?? 0);
      return onlyIfCounted && counted === 0 ? [] : [{ effect, reason, count: counted }];
    });
    return { kind, description, statements, own: isOwn, safe: found.length === 0, hazards: found };
  });
}
