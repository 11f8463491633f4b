import type { Platform } from "../platform/platform.js";
import { dayMs, dayOf } from "./day-sums.js";
import { deleteEntries } from "./store.js";

const entriesMax = 500;
/** In one call. */
const roundsMax = 50;

/** Receipts of days that are over `retentionDays` old are deleted, a few at a time; the sums of their days stay. */
export async function retireReceipts(
  { database, clock }: Pick<Platform, "database" | "clock">,
  retentionDays: number,
): Promise<void> {
  const beforeDay = dayOf(clock.now() - retentionDays * dayMs);
  for (let rounds = 0, removed = entriesMax; removed >= entriesMax && rounds < roundsMax; rounds++) {
    const [result] = await database.batch([deleteEntries(beforeDay, entriesMax)]);
    removed = result!.rowsWritten;
  }
}
