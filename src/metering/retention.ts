import type { Platform } from "../platform/platform.js";
import { dayMs, dayOf } from "./day-sums.js";
import { deleteEntries } from "./store.js";

const entriesMax = 2_000;
/** In one call. */
const roundsMax = 50;

/** Midnight, UTC, in milliseconds since the epoch. */
export function keptFrom(nowMs: number, retentionDays: number): number {
  return (Math.floor(nowMs / dayMs) - retentionDays) * dayMs;
}

/** Receipts of days that are over `retentionDays` old are deleted, a few at a time; the sums of their days stay. */
export async function retireReceipts(
  { database, clock }: Pick<Platform, "database" | "clock">,
  retentionDays: number,
): Promise<void> {
  const beforeDay = dayOf(keptFrom(clock.now(), retentionDays));
  for (let rounds = 0, removed = entriesMax; removed >= entriesMax && rounds < roundsMax; rounds++) {
    const [result] = await database.batch([deleteEntries(beforeDay, entriesMax)]);
    removed = result!.rowsWritten;
  }
}
