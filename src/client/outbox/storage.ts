import { type DbFactory, IndexedDb, indexedDbHere, resultOf } from "../indexed-db.js";
import type { Kept } from "./kept.js";

/** Where outboxes keep the mutations that they have to send. */
export interface OutboxStorage {
  /**
   * Calls `act` with what is stored under a name, and stores what it returns in its place. Both are one transaction,
   * which no other tab can interrupt. Resolves once the result is stored.
   */
  change(name: string, act: (kept: Kept | undefined) => Kept): Promise<void>;
}

/** IndexedDB, which outlives the page; memory if there is none, as under Node. */
export function defaultOutboxStorage(): OutboxStorage {
  const factory = indexedDbHere();
  return factory === undefined ? memoryOutboxStorage() : indexedDbStorage(factory);
}

/** A storage for outboxes in memory, which is lost with the page or process. */
export function memoryOutboxStorage(): OutboxStorage {
  const all = new Map<string, Kept>();
  return { change: async (name, act) => void all.set(name, act(all.get(name))) };
}

function indexedDbStorage(factory: DbFactory): OutboxStorage {
  const database = new IndexedDb(factory, "svc.outbox", ["outboxes"]);
  return {
    change: (name, act) =>
      database.within(
        "readwrite",
        async ({ outboxes }) => {
          outboxes.put(act((await resultOf(outboxes.get(name))) as Kept | undefined), name);
        },
        "strict",
      ),
  };
}
