import type { Platform } from "../platform/platform.js";
import { retirePushes } from "./ledger.js";

const rowsMax = 500;
/** How many times one call deletes rows at most, so that it ends even where new rows come as fast as old ones go. */
const roundsMax = 200;

/**
 * Deletes what is known of pushed mutations and of clients that push, after its time (`retirePushes`). To be called
 * every minute or so.
 */
export async function retireMutations({
  database,
  clock,
}: Pick<Platform, "database" | "clock">): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [deleted] = await database.batch(retirePushes(clock.now(), rowsMax));
    if (deleted!.rowsWritten < rowsMax) return;
  }
}
