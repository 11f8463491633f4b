import type { PhysicalTrigger } from "../physical.js";

/**
 * What the names of the service's own triggers on customers' tables begin with. They are no customer's: plans set them aside,
 * metering does not count what they read and write, and `schema pull` does not speak of them.
 */
const ownTriggerPrefix = "_svc_";

export function isOwnTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(ownTriggerPrefix);
}
