import type { PhysicalTrigger } from "../physical.js";

/**
 * The prefix of the names of the server's own triggers on the owner's tables. They are kept apart from the owner's
 * triggers: plans set them aside, metering does not count what they read and write, and `svc schema pull` leaves them
 * out.
 */
const ownTriggerPrefix = "_svc_";

/** Whether a trigger is the server's own, by its name. */
export function isOwnTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(ownTriggerPrefix);
}
