import { resolve } from "node:path";
import { noJournal } from "../../metering/attempt.js";
import { storeEntries } from "../../metering/database-journal.js";
import { entryBytes } from "../../metering/store.js";
import type { Database } from "../../platform/database.js";
import type { Journal, JournalEntry } from "../../platform/journal.js";
import type { Log } from "../../platform/platform.js";
import { ask } from "../../platform/query.js";
import { isMetered } from "../../project/is-metered.js";
import { FileJournal } from "../journal/journal.js";
import { recoverJournals } from "../journal/recover.js";
import type { ProjectDirectory } from "../project-directory.js";
import { systemClock, systemRandom } from "../system.js";

/** How long the query may run that adds up the bytes of the stored receipts. It runs in a thread. */
const sumWithinMs = 30_000;

/**
 * Opens the journal, and stores what earlier processes left in it. A journal that cannot be written does not prevent
 * the start: a warning is logged, and receipts wait in memory (`docs/reference/metering.md#receipts`).
 */
export async function openJournal(
  { config, directory }: ProjectDirectory,
  database: Database,
  log: Log,
): Promise<Journal> {
  if (!isMetered(config)) return noJournal;
  const options = {
    directory: resolve(directory, config.usage.journal_dir),
    store: (entry: JournalEntry) => storeEntries(database, [entry]),
    clock: systemClock,
    random: systemRandom,
    bound: { bytesMax: config.usage.journal_max_bytes, storedBytes: () => storedBytes(database) },
  };
  const journal = new FileJournal(options);
  try {
    const { gaps } = await recoverJournals(options);
    for (const { attemptsMax } of gaps)
      log.warn(`a server ended without a word: up to ${attemptsMax} receipts of it may be missing`);
  } catch (error) {
    log.error("what earlier servers left in usage.journal_dir cannot be read back yet", error);
  }
  try {
    journal.open();
  } catch (error) {
    log.warn(`usage.journal_dir: receipts are not recorded until it can be written (${(error as Error).message})`);
  }
  return journal;
}

function storedBytes(database: Database): Promise<number> {
  return ask(database, entryBytes(), { principal: "server", isKey: false, withinMs: sumWithinMs });
}
