import type { Kept } from "./kept.js";

/** Where outboxes keep the mutations that they have to send. */
export interface OutboxStorage {
  /**
   * Calls `act` with what is stored under a name, and stores what it returns in its place. Both are one transaction,
   * which no other tab can interrupt. Resolves once the result is stored.
   */
  change(name: string, act: (kept: Kept | undefined) => Kept): Promise<void>;
}

const database = "svc.outbox";
const store = "outboxes";

/** The part of IndexedDB that outboxes use. */
interface Factory {
  open(name: string, version: number): OpenRequest;
}
interface Request<Result> {
  readonly result: Result;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface OpenRequest extends Request<Connection> {
  onupgradeneeded: (() => void) | null;
}
interface Connection {
  createObjectStore(name: string): unknown;
  transaction(store: string, mode: "readwrite", options: { readonly durability: "strict" }): Transaction;
  close(): void;
  onversionchange: (() => void) | null;
  onclose: (() => void) | null;
}
interface Transaction {
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  objectStore(name: string): {
    get(key: string): Request<unknown>;
    put(value: unknown, key: string): unknown;
  };
}

/** IndexedDB, which outlives the page; memory if there is none, as under Node. */
export function defaultOutboxStorage(): OutboxStorage {
  const { indexedDB } = globalThis as { readonly indexedDB?: Factory };
  return indexedDB === undefined ? memoryOutboxStorage() : indexedDBStorage(indexedDB);
}

/** A storage for outboxes in memory, which is lost with the page or process. */
export function memoryOutboxStorage(): OutboxStorage {
  const all = new Map<string, Kept>();
  return { change: async (name, act) => void all.set(name, act(all.get(name))) };
}

function indexedDBStorage(factory: Factory): OutboxStorage {
  let opened: Promise<Connection> | null = null;
  const open = () =>
    new Promise<Connection>((resolve, reject) => {
      const request = factory.open(database, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(store);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const connection = request.result;
        // The browser closes it, or the database is to be deleted. The next change opens a new connection.
        connection.onclose = () => {
          opened = null;
        };
        connection.onversionchange = () => {
          opened = null;
          connection.close();
        };
        resolve(connection);
      };
    });
  return {
    change: async (name, act) => {
      opened ??= open();
      const connection = await opened.catch((error) => {
        opened = null;
        throw error;
      });
      await new Promise<void>((resolve, reject) => {
        const transaction = connection.transaction(store, "readwrite", { durability: "strict" });
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
        const outboxes = transaction.objectStore(store);
        const request = outboxes.get(name);
        request.onsuccess = () => outboxes.put(act(request.result as Kept | undefined), name);
      });
    },
  };
}
