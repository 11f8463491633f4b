import type { SessionStorage } from "./surroundings.js";

/** Of a token response. */
export interface TokenUser {
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

export interface Session {
  /** Differs from that of every other session and rotation, so that tabs see whether another one was faster. */
  readonly stamp: string;
  readonly user: TokenUser;
  /** By the clock of this device. */
  readonly expiresAtMs: number;
  /** Null in cookie mode, where only the browser holds the tokens. */
  readonly tokens: { readonly access: string; readonly refresh: string } | null;
}

/** Null: signed out. Undefined: nothing is known, as on a page's first visit. */
export type Known = Session | null | undefined;

export type Listener = (user: TokenUser | null) => void;

/**
 * The session as the tabs of an origin share it. This page keeps a copy, so that a storage that is full, cleared or
 * unreadable signs nobody out.
 */
export class Sessions {
  #copy: Known;
  #told: string | null = null;
  /** The copy is ahead of the storage, which did not take it. */
  #unsaved = false;
  readonly #listeners = new Set<Listener>();

  constructor(
    private readonly storage: SessionStorage,
    private readonly key: string,
  ) {
    this.storage.subscribe?.((key) => {
      if (key === this.key) void this.load();
    });
  }

  async load(): Promise<Known> {
    if (this.#unsaved) return this.#copy;
    const found = await this.#read();
    if (found !== undefined) this.#set(found);
    return this.#copy;
  }

  /** Null signs out, and says so to the other tabs. */
  async save(session: Session | null): Promise<void> {
    this.#set(session);
    try {
      await this.storage.set(this.key, JSON.stringify(session));
      this.#unsaved = false;
    } catch {
      this.#unsaved = true;
      // What is there now is over, and would be taken for good after a reload.
      await Promise.resolve(this.storage.remove(this.key)).catch(() => {});
    }
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #read(): Promise<Known> {
    try {
      const text = await this.storage.get(this.key);
      return text === null ? undefined : (JSON.parse(text) as Session | null);
    } catch {
      return undefined;
    }
  }

  #set(session: Session | null): void {
    this.#copy = session;
    const id = session?.user.id ?? null;
    if (id === this.#told) return;
    this.#told = id;
    for (const listener of this.#listeners) listener(session?.user ?? null);
  }
}
