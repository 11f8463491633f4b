import type { JournalEntry } from "../../platform/journal.js";
import type { Clock, Random } from "../../platform/platform.js";

/** What a `FileJournal` needs. */
export interface FileJournalOptions {
  /** The absolute path of `usage.journal_dir`, which holds the journals of all processes. */
  readonly directory: string;
  /**
   * Stores an entry in the database. After a crash the journal may pass the same entry again, and it must not be stored
   * a second time.
   */
  readonly store: (entry: JournalEntry) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  /** Without this bound, no receipts are summed. */
  readonly bound?: JournalBound;
}

/** How many bytes receipts may take in the journal's files and in the database together. */
export interface JournalBound {
  /**
   * Once receipts take three quarters of this, those for which `maySum` holds are added up into sums. The last quarter
   * is room for the sums.
   */
  readonly bytesMax: number;
  /** How many bytes the receipts in the database take now. */
  readonly storedBytes: () => Promise<number>;
}
