import type { Statement } from "../../platform/database.js";
import type { Platform } from "../../platform/platform.js";

const rowsMax = 500;
/** How many batches one call deletes at most, so that it ends even where new rows come as fast as old ones are deleted. */
const roundsMax = 200;

/**
 * Deletes in batches what has been kept for long enough. The server calls it every minute or so. Of `statements` the
 * first one deletes at most `rowsMax` rows.
 */
export async function retire(
  { database, clock }: Pick<Platform, "database" | "clock">,
  statements: (nowMs: number, rowsMax: number) => readonly Statement[],
): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [deleted] = await database.batch(statements(clock.now(), rowsMax));
    if (deleted!.rowsWritten < rowsMax) return;
  }
}
