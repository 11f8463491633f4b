/** All that the client takes from its environment. Tests pass a time, random numbers and a network of their own. */
export interface Surroundings {
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since 1970, by the clock of this device. */
  now(): number;
  /** At least 0, less than 1. */
  random(): number;
  /** 128 random bits as hexadecimal digits, for unique names. */
  unique(): string;
  /** Calls `act` once after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, act: () => void): () => void;
  /** The Web Locks API (W3C); null if the browser has none, or the page is not a secure context. */
  readonly locks: Locks | null;
  /** A BroadcastChannel, which the tabs of an origin share; null if the browser has none. */
  channel(name: string): Channel | null;
  /** The URL of the page; null outside of one, as under Node. */
  page(): string | null;
  /** Writes a line to the developer's console. */
  warn(text: string): void;
  /** Calls `act` whenever the device gets a connection. Returns a function that ends this. */
  online(act: () => void): () => void;
}

/** A channel between the pages of an origin. */
export interface Channel {
  postMessage(message: unknown): void;
  /** Calls `listener`, instead of the one before, with each message of another page. */
  onMessage(listener: (message: unknown) => void): void;
  close(): void;
}

/** The part of the Web Locks API that this library uses. */
export interface Locks {
  /** Runs `act` once it has the lock. With `ifAvailable` it does not wait: `act` gets null if the lock is taken. */
  request(
    name: string,
    options: { readonly signal: AbortSignal } | { readonly ifAvailable: true },
    act: (lock: unknown) => Promise<unknown>,
  ): Promise<unknown>;
}

interface Global {
  readonly location?: { readonly href: string };
  readonly navigator?: { readonly locks?: Locks };
  readonly localStorage?: WebStorage;
  readonly sessionStorage?: WebStorage;
  readonly BroadcastChannel?: new (
    name: string,
  ) => Omit<Channel, "onMessage"> & { onmessage: ((event: { readonly data: unknown }) => void) | null };
  addEventListener?(type: "storage", listener: (event: { readonly key: string | null }) => void): void;
  addEventListener?(type: "online", listener: () => void): void;
  removeEventListener?(type: "online", listener: () => void): void;
}

interface WebStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const here = globalThis as unknown as Global;

/** The real environment, of a browser or of Node. */
export function surroundings(): Surroundings {
  return {
    fetch: (input, init) => fetch(input, init),
    now: Date.now,
    random: Math.random,
    // `crypto.randomUUID` exists only in secure contexts.
    unique: () =>
      [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    after: (ms, act) => {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
    locks: here.navigator?.locks ?? null,
    channel: (name) => {
      if (!here.BroadcastChannel) return null;
      const channel = new here.BroadcastChannel(name);
      return {
        postMessage: (message) => channel.postMessage(message),
        onMessage: (listener) => {
          channel.onmessage = ({ data }) => listener(data);
        },
        close: () => channel.close(),
      };
    },
    page: () => here.location?.href ?? null,
    warn: (text) => console.warn(text),
    online: (act) => {
      here.addEventListener?.("online", act);
      return () => here.removeEventListener?.("online", act);
    },
  };
}

/** Where a session is stored. If `set` fails, the session lasts only as long as the page. */
export interface SessionStorage {
  get(key: string): string | null | Promise<string | null>;
  set(key: string, value: string): void | Promise<void>;
  remove(key: string): void | Promise<void>;
  /**
   * Only for a storage that tabs share: from now on calls `changed` whenever another tab has changed the storage, with
   * the key, or with null if all keys may have changed.
   */
  subscribe?(changed: (key: string | null) => void): void;
}

/** `localStorage`, which the tabs of an origin share, or memory if there is none, as under Node. */
export function defaultStorage(): SessionStorage {
  const shared = webStorage("localStorage");
  if (shared === null) return memoryStorage();
  return {
    ...shared,
    subscribe: (changed) => here.addEventListener?.("storage", ({ key }) => changed(key)),
  };
}

/** `sessionStorage`, which lasts as long as its tab, also while it visits a sign-in provider; null if there is none. */
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
    // In browsers that block storage for this page, even reading the property throws.
    return null;
  }
}

/** A storage for sessions in memory, which is lost with the page or process. */
export function memoryStorage(): SessionStorage {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => void values.set(key, value),
    remove: (key) => void values.delete(key),
  };
}
