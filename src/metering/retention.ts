import type { Platform } from "../platform/platform.js";
import { run } from "../platform/query.js";
import { dayMs, dayOf } from "./day-sums.js";
import { deleteEntries } from "./store.js";

const entriesMax = 500;
/** How many batches of deletions one call runs at most. */
const roundsMax = 50;

/**
 * Deletes the receipts of days that are more than `retentionDays` old, in small batches so that other writes do not
 * wait long. A later call deletes what is left after `roundsMax` batches. The sums of those days are kept.
 */
export async function retireReceipts(
  { database, clock }: Pick<Platform, "database" | "clock">,
  retentionDays: number,
): Promise<void> {
  const beforeDay = dayOf(clock.now() - retentionDays * dayMs);
  for (let rounds = 0, removed = entriesMax; removed >= entriesMax && rounds < roundsMax; rounds++) {
    removed = await run(database, deleteEntries(beforeDay, entriesMax));
  }
}
