import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import { insertGaps, insertReceipts } from "./store.js";

/**
 * The database as the journal, in statements of their own behind the customer's: a receipt that cannot be written undoes
 * nothing (interface, section 8).
 */
export function databaseJournal(database: Database): Journal {
  return {
    append: (entry) => storeEntry(database, entry),
    collect: async () => {},
    close: async () => {},
  };
}

/** Each receipt and each gap once, however often they are stored. */
export async function storeEntry(database: Database, { receipts, gaps }: JournalEntry): Promise<void> {
  await database.batch([
    ...(receipts.length === 0 ? [] : [insertReceipts(receipts)]),
    ...(gaps.length === 0 ? [] : [insertGaps(gaps)]),
  ]);
}
