import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import { insertEntries, insertGap } from "./store.js";

/**
 * A journal that stores receipts in the project's database, as Workers do. It writes them in a batch of its own after
 * the request's statements have been committed, so a receipt that cannot be written undoes nothing of the request.
 */
export function databaseJournal(database: Database): Journal {
  return {
    // Each receipt is stored as an entry of its own. The database may store a batch and not be able to report that;
    // then the receipts are appended again, together with others. As an entry is recognised by its first receipt alone,
    // one that held several receipts would not be recognised in another composition.
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
