import type { Change, Clients } from "./changes.js";

/** Where a client keeps the rows of live lists, so that they are there when the page is opened again. */
export interface RowStore {
  /** What is kept for a user; null for nobody. Removes what is kept for others. */
  open(user: string | null): Promise<StoredState>;
  /** The rows of a list; null if they are not kept. */
  rows(user: string, list: string): Promise<readonly Change[] | null>;
  /**
   * Keeps a step, all of it or nothing. Resolves to those of its current lists that are kept: others have no room, or lack
   * the rows that the step changes.
   */
  save(user: string, step: SavedStep): Promise<readonly string[]>;
  /** Removes everything. */
  clear(): Promise<void>;
}

/** What belongs together with the rows of the `current` lists. The rows of other lists are of an earlier state. */
export interface StoredState {
  readonly checkpoint: string | null;
  readonly current: readonly string[];
  readonly clients: Clients;
}

/** A step as it is kept. With a checkpoint of null, it only removes lists. */
export interface SavedStep extends StoredState {
  /** By the name of each list. With `isWhole`, the changes are all of its rows, and replace what was kept. */
  readonly lists: Readonly<Record<string, { readonly isWhole: boolean; readonly changes: readonly Change[] }>>;
  /** The lists whose rows are not kept any more. */
  readonly removed: readonly string[];
}

/** Keeps nothing: where there is no IndexedDB, rows last as long as the page. */
export const noStore: RowStore = {
  open: async () => ({ checkpoint: null, current: [], clients: {} }),
  rows: async () => null,
  save: async () => [],
  clear: async () => {},
};
