import type { Platform } from "../../platform/platform.js";
import { retireAnswers } from "../sql/kept-answers.js";

const rowsMax = 500;
/**
 * How many times one call deletes rows at most, so that it ends even where rows are added as fast as they are deleted.
 */
const roundsMax = 200;

/** Deletes answers of writes that were kept for repetitions long enough. To be called every minute or so. */
export async function retireKept({ database, clock }: Pick<Platform, "database" | "clock">): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [deleted] = await database.batch([retireAnswers(clock.now(), rowsMax)]);
    if (deleted!.rowsWritten < rowsMax) return;
  }
}
