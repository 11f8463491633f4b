import type { Platform } from "../platform/platform.js";
import { foldReceipts } from "./store.js";

const dayMs = 86_400_000;
const rowsMax = 2_000;
/** In one call. */
const roundsMax = 50;

/** Receipts of days that are over `retentionDays` old become sums of their day, a few at a time. */
export async function retireReceipts(
  { database, clock }: Pick<Platform, "database" | "clock">,
  retentionDays: number,
): Promise<void> {
  const beforeMs = (Math.floor(clock.now() / dayMs) - retentionDays) * dayMs;
  for (let rounds = 0, removed = rowsMax; removed >= rowsMax && rounds < roundsMax; rounds++) {
    const results = await database.batch(foldReceipts(beforeMs, rowsMax));
    removed = results.at(-1)!.rowsWritten;
  }
}
