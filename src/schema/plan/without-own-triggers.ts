import { type PhysicalTrigger, sameName } from "../physical/physical.js";
import { dropTrigger } from "./ddl.js";
import type { Step } from "./steps.js";

/**
 * Wraps the steps `changes`: the server's own triggers are dropped before them and created again after them, so that
 * rows which the plan changes do not fire them. They are created after the triggers that a rebuild of tables creates
 * again, because SQLite runs the trigger that was created last first. The steps `renames` come at the end, because
 * SQLite applies renames to triggers too. Triggers of tables that the plan drops (`gone`) are not created again.
 */
export function withoutOwnTriggers(
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
    isOwn: true,
  };
  const back: Step = {
    kind: "create_trigger",
    description: "make the server's own triggers again",
    statements: staying.map(({ sql }) => sql),
    hazards: [],
    isOwn: true,
  };
  return [aside, ...changes, ...(staying.length > 0 ? [back] : []), ...renames];
}
