import { type PhysicalTrigger, sameName } from "../physical.js";
import { dropTrigger } from "./ddl.js";
import type { Step } from "./steps.js";

/**
 * The steps of a plan with the service's own triggers out of the way: they are dropped first, so that nothing which the plan
 * does to rows reaches them, and made again last, as SQLite runs the trigger first that was made last. Renames come behind
 * them, which SQLite carries into triggers. Those of a table that is gone do not come back.
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
    description: "set the service's own triggers aside",
    statements: triggers.map(({ name }) => dropTrigger(name)),
    hazards: [],
  };
  const back: Step = {
    kind: "create_trigger",
    description: "make the service's own triggers again",
    statements: staying.map(({ sql }) => sql),
    hazards: [],
  };
  return [aside, ...changes, ...(staying.length > 0 ? [back] : []), ...renames];
}
