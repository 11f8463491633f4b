import type { Platform } from "../platform/platform.js";
import { retirePushes } from "./ledger.js";

const rowsMax = 500;
/** How many times one call deletes `rowsMax` rows at most, so that it ends even if new rows come as fast. */
const roundsMax = 200;

/** Deletes old results of mutations and old clients (`retirePushes`). The server calls it every minute or so. */
export async function retireMutations({
  database,
  clock,
}: Pick<Platform, "database" | "clock">): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [deleted] = await database.batch(retirePushes(clock.now(), rowsMax));
    if (deleted!.rowsWritten < rowsMax) return;
  }
}
