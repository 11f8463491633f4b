import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import { insertEntries, insertGap } from "./store.js";

/**
 * The database as the journal, in statements of their own behind the customer's: a receipt that cannot be written undoes
 * nothing.
 */
export function databaseJournal(database: Database): Journal {
  return {
    // Each by itself: of what was taken without a word, and comes again, some may be there.
    append: ({ receipts, gaps }) =>
      storeEntries(database, [
        ...receipts.map((receipt) => ({ receipts: [receipt], gaps: [] })),
        { receipts: [], gaps },
      ]),
    collect: async () => {},
    close: async () => {},
  };
}

/** Each entry and each gap once, however often they are stored. */
export async function storeEntries(database: Database, entries: readonly JournalEntry[]): Promise<void> {
  await database.batch([
    ...insertEntries(entries.map(({ receipts }) => receipts)),
    ...entries.flatMap(({ gaps }) => gaps.map(insertGap)),
  ]);
}
