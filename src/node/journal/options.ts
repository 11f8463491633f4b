import type { JournalEntry } from "../../platform/journal.js";
import type { Clock, Random } from "../../platform/platform.js";

/** What a `FileJournal` (a journal that keeps receipts in files) needs. */
export interface FileJournalOptions {
  /** The absolute path of `usage.journal_dir`, which holds the journals of all processes. */
  readonly directory: string;
  /**
   * Stores receipts and gaps (notes of missing receipts) in the database. After a crash the journal may pass the same
   * entry again, and it must not be stored a second time.
   */
  readonly store: (entry: JournalEntry) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * How much room receipts may take. Without this bound, no receipts are summed: every request keeps one of its own.
   */
  readonly bound?: JournalBound;
}

/**
 * How many bytes receipts may take in the journal's files and in the database together, and how many bytes they take in
 * the database now.
 */
export interface JournalBound {
  /**
   * How many bytes receipts may take in all. Once they take three quarters of that, receipts for which `maySum` holds
   * (those of anonymous requests that have written nothing) are added up into sums. The last quarter is room for the
   * sums.
   */
  readonly bytesMax: number;
  /** Returns how many bytes the receipts in the database take. */
  readonly storedBytes: () => Promise<number>;
}
