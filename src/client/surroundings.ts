/** Everything that the client takes from where it runs. Tests put their own time, chance and network here. */
export interface Surroundings {
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since 1970, as this device believes. */
  now(): number;
  /** From 0 to 1, 1 not among it. */
  random(): number;
  /** Calls back once, unless it is cancelled by what it gives. */
  after(ms: number, act: () => void): () => void;
  /** Web Locks (W3C); null where there are none, and on pages that are no secure context. */
  readonly locks: Locks | null;
}

export interface Locks {
  /** `act` is told the lock; null where it is taken and only one that is free was asked for. */
  request(
    name: string,
    options: { readonly signal: AbortSignal } | { readonly ifAvailable: true },
    act: (lock: unknown) => Promise<unknown>,
  ): Promise<unknown>;
}

interface Global {
  readonly navigator?: { readonly locks?: Locks };
  readonly localStorage?: WebStorage;
  readonly sessionStorage?: WebStorage;
  addEventListener?(type: "storage", listener: (event: { readonly key: string | null }) => void): void;
}

interface WebStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const here = globalThis as unknown as Global;

export function surroundings(): Surroundings {
  return {
    fetch: (input, init) => fetch(input, init),
    now: Date.now,
    random: Math.random,
    after: (ms, act) => {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
    locks: here.navigator?.locks ?? null,
  };
}

/** Where a session is kept. What it gives back may be a promise; a failure of `set` loses nothing while the page lives. */
export interface SessionStorage {
  get(key: string): string | null | Promise<string | null>;
  set(key: string, value: string): void | Promise<void>;
  remove(key: string): void | Promise<void>;
  /** For a storage that tabs share: calls back when another one has changed the key (null: any of them). */
  subscribe?(changed: (key: string | null) => void): void;
}

/** `localStorage`, which the tabs of an origin share; in memory where there is none, as under Node. */
export function defaultStorage(): SessionStorage {
  const shared = webStorage("localStorage");
  if (shared === null) return memoryStorage();
  return {
    ...shared,
    subscribe: (changed) => here.addEventListener?.("storage", ({ key }) => changed(key)),
  };
}

/** `sessionStorage`, which lives as long as its tab, on the way to a sign-in provider and back. */
export function tabStorage(): SessionStorage | null {
  return webStorage("sessionStorage");
}

function webStorage(name: "localStorage" | "sessionStorage"): SessionStorage | null {
  try {
    const storage = here[name];
    if (!storage) return null;
    return {
      get: (key) => storage.getItem(key),
      set: (key, value) => storage.setItem(key, value),
      remove: (key) => storage.removeItem(key),
    };
  } catch {
    // A browser that keeps nothing for this page throws at the sight of it.
    return null;
  }
}

export function memoryStorage(): SessionStorage {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => void values.set(key, value),
    remove: (key) => void values.delete(key),
  };
}
