import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import { insertEntries, insertGap } from "./store.js";

/**
 * A journal that stores receipts in the project's database, as Workers do. It writes them in a batch of its own after
 * the request's statements have been committed, so a receipt that cannot be written undoes nothing of the request.
 */
export function databaseJournal(database: Database): Journal {
  return {
    // Each receipt is an entry of its own, because the database may have stored a batch whose success it could not
    // report. Its receipts are then appended again, behind others, and an entry is recognised by its first receipt
    // alone.
    append: ({ receipts, gaps }) =>
      storeEntries(database, [
        ...receipts.map((receipt) => ({ receipts: [receipt], gaps: [] })),
        { receipts: [], gaps },
      ]),
    collect: async () => {},
    close: async () => {},
  };
}

/** Stores receipts and gaps. An entry or a gap that is stored already is not stored or counted a second time. */
export async function storeEntries(database: Database, entries: readonly JournalEntry[]): Promise<void> {
  await database.batch([
    ...insertEntries(entries.map(({ receipts }) => receipts)),
    ...entries.flatMap(({ gaps }) => gaps.map(insertGap)),
  ]);
}
