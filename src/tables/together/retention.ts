import type { Platform } from "../../platform/platform.js";
import { retireAnswers } from "../sql/kept-answers.js";

const rowsMax = 500;
/**
 * How many batches of rows one call deletes at most, so that it ends even where new rows come as fast as old ones are
 * deleted.
 */
const roundsMax = 200;

/**
 * Deletes kept answers, with which repetitions of requests were answered, once they were kept for long enough
 * (`retireAnswers`). The server calls it every minute or so.
 */
export async function retireKept({ database, clock }: Pick<Platform, "database" | "clock">): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [deleted] = await database.batch([retireAnswers(clock.now(), rowsMax)]);
    if (deleted!.rowsWritten < rowsMax) return;
  }
}
