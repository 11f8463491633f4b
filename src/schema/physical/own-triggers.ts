import type { PhysicalTrigger } from "./physical.js";

/**
 * The prefix of the names of the triggers that the server itself makes on the owner's tables. By it they are told from
 * the owner's triggers: plans drop them before other changes and create them again, metering does not count what they
 * read and write, and `svc schema pull` leaves them out.
 */
const ownTriggerPrefix = "_svc_";

/** Whether a trigger is one of the server's own, judged by its name. */
export function isOwnTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(ownTriggerPrefix);
}
