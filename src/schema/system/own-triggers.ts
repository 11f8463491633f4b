import type { PhysicalTrigger } from "../physical.js";

/**
 * What the names of the service's own triggers on the owner's tables begin with. They are not the owner's: plans set them aside,
 * metering does not count what they read and write, and `schema pull` does not speak of them.
 */
const ownTriggerPrefix = "_svc_";

/** Whether a trigger is the service's own, by its name. */
export function isOwnTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(ownTriggerPrefix);
}
