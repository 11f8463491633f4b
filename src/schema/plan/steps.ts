import type { AssessedHazard, PlannedStep, StepKind } from "../../wire/plan.js";
import { countRows } from "./counts.js";

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
  /** What the step passes over, so that writes wait meanwhile. */
  readonly passes?: readonly Pass[];
}

/** Rows that a step passes over, each once. */
export interface Pass {
  /** The rows, as SQL that stands behind FROM, in the database before the plan. */
  readonly rows: string;
  readonly work: Work;
}

/** What is done with each row. */
export type Work = keyof typeof microseconds;

/**
 * How long a row takes, roughly, in a table of ten million rows that is larger than the memory. A small table takes a
 * fraction of that.
 */
const microseconds = {
  /** SQLite checks the whole table. */
  check: 7,
  /** The row is written again. */
  write: 12,
  /** It is put into an index. */
  index: 12,
  /** Its words are put into a full-text index. */
  words: 12,
  /** It is deleted, or its pages are freed. */
  delete: 3,
};

/** The queries for how many rows the steps pass over. */
export function passQueries(steps: readonly Step[]): string[] {
  return [...new Set(steps.flatMap(({ passes = [] }) => passes.map(({ rows }) => countRows(rows))))];
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

/**
 * Puts the results of `countQueries` into the hazards, and those of `passQueries`, by query, into the steps. Hazards
 * that vanish at a count of zero are left out.
 */
export function assess(
  steps: readonly Step[],
  counts: readonly number[],
  rowsOf: ReadonlyMap<string, number>,
): PlannedStep[] {
  const remaining = [...counts];
  return steps.map(({ kind, description, statements, hazards, isOwn, passes = [] }) => {
    const counted = passes.map(({ rows, work }) => ({ work, count: rowsOf.get(countRows(rows)) ?? 0 }));
    const found = hazards.flatMap(({ effect, reason, count, onlyIfCounted }): AssessedHazard[] => {
      const counted = count === null ? null : (remaining.shift() ?? 0);
      return onlyIfCounted && counted === 0 ? [] : [{ effect, reason, count: counted }];
    });
    return {
      kind,
      description,
      statements,
      ...(isOwn ? { own: isOwn } : {}),
      safe: found.length === 0,
      hazards: found,
      rows: Math.max(0, ...counted.map(({ count }) => count)),
      writes_wait_ms: Math.ceil(counted.reduce((sum, { work, count }) => sum + microseconds[work] * count, 0) / 1000),
    };
  });
}
