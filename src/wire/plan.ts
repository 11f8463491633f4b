import { count, flag, list, nullOr, object, openObject, type Static, text, type WireSchema } from "./schema.js";

/** What a step does. Plans in JSON contain these names. */
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
  | "create_history"
  | "drop_history"
  | "create_search"
  | "drop_search"
  | "create_trigger"
  | "drop_trigger";

/** A hazard of a step, with the number of rows or values that it concerns. */
export interface AssessedHazard {
  readonly effect: "destructive" | "impossible";
  readonly reason: string;
  readonly count: number | null;
}

/** A step of a plan after the queries of its hazards have run, without `onlyIfCounted` hazards that counted zero. */
export interface PlannedStep {
  readonly kind: StepKind;
  readonly description: string;
  readonly statements: readonly string[];
  /** Whether it only follows from other steps, as dropping and creating the server's own triggers does. */
  readonly own?: true;
  readonly safe: boolean;
  readonly hazards: readonly AssessedHazard[];
  /** How many rows the step passes over while writes wait. */
  readonly rows: number;
  /** An estimate of how long writes wait for the step, in milliseconds. */
  readonly writes_wait_ms: number;
}

const step = openObject({ safe: flag, rows: count, writes_wait_ms: count }) as WireSchema<PlannedStep>;
/** The schema of steps. */
export const planSteps: WireSchema<readonly PlannedStep[]> = list(step);

/** The schema of the plan of a change of the schema. */
export const schemaPlan = object({ base: nullOr(text) as WireSchema<string>, hash: text, steps: planSteps });
/** The plan of a change of the schema, from the schema in force with the hash `base` to the new one with `hash`. */
export type SchemaPlan = Static<typeof schemaPlan>;

/** The schema of what was done to change the schema. */
export const schemaChange = object({ version: count, hash: text, steps: planSteps });
/** What was done to change the schema: the steps to the schema with this version and this hash. */
export type SchemaChange = Static<typeof schemaChange>;
