import type { PhysicalTrigger } from "./physical.js";

/**
 * Begins the names of the server's own triggers on the owner's tables. Plans drop these before other changes and create
 * them again, metering does not count what they read and write, and `svc schema pull` leaves them out.
 */
const ownTriggerPrefix = "_svc_";

/** By the trigger's name. */
export function isOwnTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(ownTriggerPrefix);
}
