/** The part of IndexedDB (https://www.w3.org/TR/IndexedDB/) that this library uses. */
export interface DbFactory {
  open(name: string, version: number): DbOpenRequest;
}
interface DbRequest<Result> {
  readonly result: Result;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface DbOpenRequest extends DbRequest<Connection> {
  onupgradeneeded: (() => void) | null;
}
interface Connection {
  createObjectStore(name: string): unknown;
  transaction(
    stores: readonly string[],
    mode: "readonly" | "readwrite",
    options: { readonly durability: "strict" | "default" },
  ): Transaction;
  close(): void;
  onversionchange: (() => void) | null;
  onclose: (() => void) | null;
}
interface Transaction {
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  objectStore(name: string): DbStore;
}

/** An object store, in a transaction. A key is a text or an array of texts; `keys` can also be a range of keys. */
export interface DbStore {
  get(key: unknown): DbRequest<unknown>;
  getAll(keys?: unknown): DbRequest<unknown[]>;
  getAllKeys(): DbRequest<unknown[]>;
  put(value: unknown, key: unknown): unknown;
  delete(keys: unknown): unknown;
  clear(): unknown;
}

/** IndexedDB; undefined if there is none, as under Node. */
export function indexedDbHere(): DbFactory | undefined {
  return (globalThis as { readonly indexedDB?: DbFactory }).indexedDB;
}

/** The range of all array keys that begin with these texts: arrays come after texts, and longer arrays after shorter. */
export function keysWithin(...beginning: string[]): unknown {
  const { IDBKeyRange } = globalThis as unknown as { IDBKeyRange: { bound(from: unknown, to: unknown): unknown } };
  return IDBKeyRange.bound(beginning, [...beginning, []]);
}

/** A database with these object stores. Its connection is opened when it is first used, and anew after it was closed. */
export class IndexedDb<Name extends string> {
  #opened: Promise<Connection> | null = null;

  constructor(
    private readonly factory: DbFactory,
    private readonly name: string,
    private readonly stores: readonly Name[],
  ) {}

  /** Runs `act` in one transaction. Resolves once the transaction has ended; with "strict", once it is on disk. */
  async within<T>(
    mode: "readonly" | "readwrite",
    act: (stores: Readonly<Record<Name, DbStore>>) => Promise<T>,
    durability: "strict" | "default" = "default",
  ): Promise<T> {
    this.#opened ??= this.#connect();
    const connection = await this.#opened.catch((error) => {
      this.#opened = null;
      throw error;
    });
    const transaction = connection.transaction(this.stores, mode, { durability });
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
    });
    ended.catch(() => {});
    const stores = this.stores.map((name) => [name, transaction.objectStore(name)] as const);
    const result = await act(Object.fromEntries(stores) as Record<Name, DbStore>);
    await ended;
    return result;
  }

  #connect(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const request = this.factory.open(this.name, 1);
      request.onupgradeneeded = () => {
        for (const store of this.stores) request.result.createObjectStore(store);
      };
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const connection = request.result;
        // The browser closes it, or the database is to be deleted. The next transaction opens a new connection.
        connection.onclose = () => {
          this.#opened = null;
        };
        connection.onversionchange = () => {
          this.#opened = null;
          connection.close();
        };
        resolve(connection);
      };
    });
  }
}

/** The result of a request, within its transaction. */
export function resultOf<T>(request: DbRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
