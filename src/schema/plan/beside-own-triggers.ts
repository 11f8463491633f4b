import { type PhysicalTrigger, sameName } from "../physical.js";
import { dropTrigger } from "./ddl.js";
import type { Step } from "./steps.js";

/**
 * Surrounds the steps of a plan with steps that drop the server's own triggers first and create them again afterwards,
 * so that changes of rows by the plan do not fire these triggers. They are created after all other triggers, because
 * SQLite runs the trigger that was created last first. Renames follow at the end, because SQLite applies them to
 * triggers too. Triggers of tables that are dropped (`gone`) are not created again.
 */
export function besideOwnTriggers(
  triggers: readonly PhysicalTrigger[],
  gone: readonly { readonly name: string }[],
  changes: readonly Step[],
  renames: readonly Step[],
): readonly Step[] {
  const touches = [...changes, ...renames].some(({ statements }) => statements.length > 0);
  if (triggers.length === 0 || !touches) return [...changes, ...renames];
  const staying = triggers.filter(({ on }) => !gone.some(({ name }) => sameName(name, on)));
  const aside: Step = {
    kind: "drop_trigger",
    description: "set the server's own triggers aside",
    statements: triggers.map(({ name }) => dropTrigger(name)),
    hazards: [],
  };
  const back: Step = {
    kind: "create_trigger",
    description: "make the server's own triggers again",
    statements: staying.map(({ sql }) => sql),
    hazards: [],
  };
  return [aside, ...changes, ...(staying.length > 0 ? [back] : []), ...renames];
}
