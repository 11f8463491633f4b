import type { Platform } from "../platform/platform.js";
import { retirePushes } from "./ledger.js";

const rowsMax = 500;
/**
 * How many batches of rows one call deletes at most, so that it ends even where new rows come as fast as old ones are
 * deleted.
 */
const roundsMax = 200;

/**
 * Deletes what became of pushed mutations, and clients that push, when they are old enough (`retirePushes`). The server
 * calls it every minute or so.
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
