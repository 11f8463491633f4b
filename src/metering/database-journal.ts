import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import { insertEntries, insertGap } from "./store.js";

/**
 * Stores receipts in the project's database. Workers use it for all receipts, Node only for those that its journal in
 * files could not take before the server stopped. It writes in a batch of its own, after the request's statements have
 * been committed. So a receipt that cannot be written undoes nothing of the request.
 */
export function databaseJournal(database: Database): Journal {
  return {
    // Each receipt becomes an entry of its own. The database may store a batch and then fail to report that; the
    // receipts are then appended again, together with others. The database recognises an entry by its first receipt
    // alone, so it would count receipts twice that are grouped differently the second time.
    append: ({ receipts, gaps }) =>
      storeEntries(database, [
        ...receipts.map((receipt) => ({ receipts: [receipt], gaps: [] })),
        { receipts: [], gaps },
      ]),
    collect: async () => {},
    close: async () => {},
  };
}

/** Stores receipts and gaps. An entry or a gap that is stored already is not stored or counted again. */
export async function storeEntries(database: Database, entries: readonly JournalEntry[]): Promise<void> {
  await database.batch([
    ...insertEntries(entries.map(({ receipts }) => receipts)),
    ...entries.flatMap(({ gaps }) => gaps.map(insertGap)),
  ]);
}
