import { planSteps } from "./plan.js";
import { flag, list, object, type Static, text } from "./schema.js";

/** The schema of the body of a reload. */
export const reloadRequest = object({ dry_run: flag }, "dry_run");

/** The schema of what a reload has taken over. */
export const reloaded = object({ applied: flag, restart: list(text), steps: planSteps, waits: planSteps });
/**
 * What a reload has taken over: whether the files differ from what was served, the steps of the schema, and those that
 * wait for a person. `restart` is empty: a setting that needs a restart is a problem.
 */
export type Reloaded = Static<typeof reloaded>;
