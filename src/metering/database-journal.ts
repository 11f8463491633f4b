import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import { insertEntries, insertGap } from "./store.js";

/**
 * Makes a journal that stores receipts in the project's database. Workers use it for all receipts, Node only for
 * receipts that its journal in files could not take before the server stopped. It writes them in a batch of its own,
 * after the request's statements have been committed. So a receipt that cannot be written undoes nothing of the
 * request.
 */
export function databaseJournal(database: Database): Journal {
  return {
    // Each receipt becomes an entry of its own. The database may store a batch and then fail to report that; the
    // receipts are then appended a second time, together with others. The database recognises an entry by its first
    // receipt alone, so an entry of several receipts that are grouped differently the second time would be counted
    // twice.
    append: ({ receipts, gaps }) =>
      storeEntries(database, [
        ...receipts.map((receipt) => ({ receipts: [receipt], gaps: [] })),
        { receipts: [], gaps },
      ]),
    collect: async () => {},
    close: async () => {},
  };
}

/**
 * Stores receipts and gaps (notes of missing receipts) in the database. An entry or a gap that is stored already is not
 * stored or counted a second time.
 */
export async function storeEntries(database: Database, entries: readonly JournalEntry[]): Promise<void> {
  await database.batch([
    ...insertEntries(entries.map(({ receipts }) => receipts)),
    ...entries.flatMap(({ gaps }) => gaps.map(insertGap)),
  ]);
}
