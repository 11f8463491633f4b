/** One change of the database's schema, in the order of the plan. */
export interface Step {
  readonly kind: StepKind;
  /** One line for a person. */
  readonly description: string;
  /** In order. None for `adopt`. */
  readonly statements: readonly string[];
  readonly hazards: readonly Hazard[];
}

/** What a step does, as plans name it in JSON. */
export type StepKind =
  | "create_table"
  | "adopt_table"
  | "drop_table"
  | "rename_table"
  | "add_column"
  | "drop_column"
  | "rename_column"
  | "rebuild_table"
  | "create_index"
  | "drop_index"
  | "create_trigger"
  | "drop_trigger";

/** A reason why a step is not simply safe (docs/reference/schema.md). */
export interface Hazard {
  /** `destructive` needs a person's word; `impossible` cannot be done at all while it holds. */
  readonly effect: "destructive" | "impossible";
  /** For a person: what is lost, or what does not hold. */
  readonly reason: string;
  /** One SELECT of one number, over the database as it is before the plan: the rows or values concerned. */
  readonly count: string | null;
  /** The hazard is none when the count is zero. */
  readonly onlyIfCounted: boolean;
}

/** A hazard with its count, once the database was asked. */
export interface AssessedHazard {
  readonly effect: Hazard["effect"];
  readonly reason: string;
  readonly count: number | null;
}

/** A step as a person decides on it: hazards that do not hold are gone. */
export interface PlannedStep {
  readonly kind: StepKind;
  readonly description: string;
  readonly statements: readonly string[];
  readonly safe: boolean;
  readonly hazards: readonly AssessedHazard[];
}

/** Something is lost in any case; `count` says how much. */
export function destructive(reason: string, count: string | null = null): Hazard {
  return { effect: "destructive", reason, count, onlyIfCounted: false };
}

/** Something is lost, unless the count is zero. */
export function destructiveIfAny(reason: string, count: string): Hazard {
  return { effect: "destructive", reason, count, onlyIfCounted: true };
}

/** The step cannot be done while the reason holds. */
export function impossible(reason: string): Hazard {
  return { effect: "impossible", reason, count: null, onlyIfCounted: false };
}

/** The step cannot be done, unless the count is zero. */
export function impossibleIfAny(reason: string, count: string): Hazard {
  return { effect: "impossible", reason, count, onlyIfCounted: true };
}

/** The queries whose answers `assess` wants, in its order. */
export function countQueries(steps: readonly Step[]): string[] {
  return steps.flatMap(({ hazards }) => hazards.flatMap(({ count }) => (count === null ? [] : [count])));
}

/** The steps with the answers to `countQueries`, and without the hazards that these rule out. */
export function assess(steps: readonly Step[], counts: readonly number[]): PlannedStep[] {
  const remaining = [...counts];
  return steps.map(({ kind, description, statements, hazards }) => {
    const found = hazards.flatMap(({ effect, reason, count, onlyIfCounted }): AssessedHazard[] => {
      const counted = count === null ? null : (remaining.shift() ?? 0);
      return onlyIfCounted && counted === 0 ? [] : [{ effect, reason, count: counted }];
    });
    return { kind, description, statements, safe: found.length === 0, hazards: found };
  });
}
