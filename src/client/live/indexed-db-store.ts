import { type DbStore, IndexedDb, indexedDbHere, keysWithin, resultOf } from "../indexed-db.js";
import type { Change } from "./changes.js";
import { noStore, type RowStore, type SavedStep, type StoredState } from "./store.js";

/** How many characters of JSON the rows of all lists have at most. Beyond that, the lists that were used least lately go. */
const charactersMax = 50_000_000;

/** A row as it is kept, under `[user, list, key]`. */
interface KeptRow {
  readonly change: Change;
  readonly characters: number;
}

/** A list as it is kept, under `[user, list]`. */
interface KeptList {
  readonly name: string;
  readonly characters: number;
  /** When its rows were changed last, in milliseconds since 1970. */
  readonly savedAtMs: number;
}

const stores = ["states", "lists", "rows"] as const;
type Stores = Readonly<Record<(typeof stores)[number], DbStore>>;

/**
 * Keeps the rows of live lists in IndexedDB, in a database of this name (`docs/guides/client.md#on-the-device`). Keeps
 * nothing where there is no IndexedDB, as under Node.
 */
export function indexedDbStore(name: string): RowStore {
  const factory = indexedDbHere();
  if (factory === undefined) return noStore;
  const database = new IndexedDb(factory, `svc.rows ${name}`, stores);
  return {
    open: (user) =>
      database.within("readwrite", async (found) => {
        const users = (await resultOf(found.states.getAllKeys())) as string[];
        for (const other of users) if (other !== user) removeUser(found, other);
        if (user === null) return nothing;
        return ((await resultOf(found.states.get(user))) as StoredState | undefined) ?? nothing;
      }),
    rows: (user, list) =>
      database.within("readonly", async ({ lists, rows }) => {
        if ((await resultOf(lists.get([user, list]))) === undefined) return null;
        const kept = (await resultOf(rows.getAll(keysWithin(user, list)))) as KeptRow[];
        return kept.map(({ change }) => change);
      }),
    save: (user, step) => database.within("readwrite", (found) => save(found, user, step)),
    clear: () =>
      database.within("readwrite", async (found) => {
        for (const store of stores) found[store].clear();
      }),
  };
}

const nothing: StoredState = { checkpoint: null, current: [], clients: {} };

async function save(found: Stores, user: string, { lists, removed, ...state }: SavedStep): Promise<readonly string[]> {
  for (const name of removed) removeList(found, user, name);
  if (state.checkpoint === null) return [];
  for (const [name, { isWhole, changes }] of Object.entries(lists)) {
    if (isWhole) removeList(found, user, name);
    const before = isWhole ? undefined : ((await resultOf(found.lists.get([user, name]))) as KeptList | undefined);
    // Changes say nothing without the rows before.
    if (!isWhole && before === undefined) continue;
    let characters = before?.characters ?? 0;
    for (const change of changes) {
      const key = [user, name, JSON.stringify(change.key)];
      const had = isWhole ? undefined : ((await resultOf(found.rows.get(key))) as KeptRow | undefined);
      characters -= had?.characters ?? 0;
      if (change.op === "remove") {
        found.rows.delete(key);
        continue;
      }
      const row: KeptRow = { change, characters: JSON.stringify(change).length };
      characters += row.characters;
      found.rows.put(row, key);
    }
    found.lists.put({ name, characters, savedAtMs: Date.now() } satisfies KeptList, [user, name]);
  }
  const kept = await makeRoom(found, user, state.current);
  const current = state.current.filter((name) => kept.has(name));
  found.states.put({ ...state, current } satisfies StoredState, user);
  return current;
}

/**
 * Removes lists where all together are too large: first those that are not current, and of these the oldest. Returns the
 * others.
 */
async function makeRoom(found: Stores, user: string, current: readonly string[]): Promise<ReadonlySet<string>> {
  const kept = (await resultOf(found.lists.getAll(keysWithin(user)))) as KeptList[];
  let characters = kept.reduce((sum, list) => sum + list.characters, 0);
  const left = new Set(kept.map(({ name }) => name));
  const isCurrent = ({ name }: KeptList) => Number(current.includes(name));
  for (const list of kept.sort((a, b) => isCurrent(a) - isCurrent(b) || a.savedAtMs - b.savedAtMs)) {
    if (characters <= charactersMax) break;
    removeList(found, user, list.name);
    characters -= list.characters;
    left.delete(list.name);
  }
  return left;
}

function removeList({ lists, rows }: Stores, user: string, name: string): void {
  lists.delete([user, name]);
  rows.delete(keysWithin(user, name));
}

function removeUser({ states, lists, rows }: Stores, user: string): void {
  states.delete(user);
  lists.delete(keysWithin(user));
  rows.delete(keysWithin(user));
}
