import type { TokenUser } from "../wire/users.js";
import type { SessionStorage } from "./surroundings.js";

/** A session as this device knows it. */
export interface Session {
  /** Different for each session and each renewal, so that a tab sees whether another tab has renewed the session. */
  readonly stamp: string;
  readonly user: TokenUser;
  /** By the clock of this device. */
  readonly expiresAtMs: number;
  /** Null in cookie mode, where only the browser holds them. */
  readonly tokens: { readonly access: string; readonly refresh: string } | null;
}

/** Null if it is known that nobody is signed in; undefined if nothing is known, as on the first visit of a page. */
export type Known = Session | null | undefined;

/** Called with the user after somebody has signed in, and with null after somebody has signed out. */
export type SessionListener = (user: TokenUser | null) => void;

/**
 * Keeps the session in the client's storage, and a copy in memory, so that a storage that is full, cleared or
 * unreadable does not sign anybody out.
 */
export class Sessions {
  readonly #storage: SessionStorage;
  readonly #key: string;
  readonly #cookies: boolean;
  #copy: Known;
  /** The id of the user with whom listeners were last called, null for nobody; undefined before the first load. */
  #notifiedId: string | null | undefined;
  /** If it changes while the session is read from the storage, what was read is out of date. */
  #saves = 0;
  /** The `stamp` of an outdated session that could not be removed from the storage, and is ignored when it is read. */
  #superseded: string | undefined;
  readonly #listeners = new Set<{ readonly listener: SessionListener }>();

  constructor(storage: SessionStorage, key: string, cookies: boolean) {
    this.#storage = storage;
    this.#key = key;
    this.#cookies = cookies;
    storage.subscribe?.((changed) => {
      if (changed === null || changed === key) void this.load().then(() => this.#notify());
    });
  }

  async load(): Promise<Known> {
    const saves = this.#saves;
    const found = await this.#read();
    const isNewer = found !== undefined && (found === null || found.stamp !== this.#superseded);
    if (isNewer && saves === this.#saves) this.#copy = found;
    // The session that is there when a page opens is no change.
    if (this.#notifiedId === undefined) this.#notifiedId = this.#copy?.user.id ?? null;
    else this.#notify();
    return this.#copy;
  }

  /** Null means that nobody is signed in any more, and is stored too, so that other tabs see it. */
  async save(session: Session | null): Promise<void> {
    this.#saves++;
    const before = this.#copy;
    this.#copy = session;
    const text = JSON.stringify(session);
    if (!(await this.#stored(text))) {
      // The previous session would be taken for the current one when the page is loaded again. Removing it also makes
      // room for another attempt to store.
      await this.#quietly(() => this.#storage.remove(this.#key));
      if (!(await this.#stored(text))) this.#superseded = before?.stamp;
    }
    this.#notify();
  }

  listen(listener: SessionListener): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  async #stored(text: string): Promise<boolean> {
    return this.#quietly(() => this.#storage.set(this.#key, text));
  }

  async #quietly(act: () => unknown): Promise<boolean> {
    try {
      await act();
      return true;
    } catch {
      return false;
    }
  }

  async #read(): Promise<Known> {
    try {
      const text = await this.#storage.get(this.#key);
      const value: unknown = text === null ? undefined : JSON.parse(text);
      if (value === null) return null;
      if (!isSession(value)) return undefined;
      if ((value.tokens === null) === this.#cookies) return value;
      // The stored session does not fit the mode: it was stored before the client's option `session` was changed.
      await this.#storage.remove(this.#key);
    } catch {
      // If the storage cannot be read, nothing is known.
    }
    return undefined;
  }

  /** Calls the listeners if the user has changed, each in a microtask, so that it cannot disturb the caller. */
  #notify(): void {
    const user = this.#copy?.user ?? null;
    if ((user?.id ?? null) === (this.#notifiedId ?? null)) return;
    this.#notifiedId = user?.id ?? null;
    for (const { listener } of [...this.#listeners]) queueMicrotask(() => listener(user));
  }
}

/** It may come from another version of this library or from another program. */
function isSession(value: unknown): value is Session {
  const { stamp, user, expiresAtMs, tokens } = (value ?? {}) as Partial<Record<keyof Session, never>>;
  const isText = (text: unknown) => typeof text === "string";
  const { id, email, role } = (user ?? {}) as Partial<TokenUser>;
  const { access, refresh } = (tokens ?? {}) as Partial<NonNullable<Session["tokens"]>>;
  return (
    [stamp, id, email, role].every(isText) &&
    typeof expiresAtMs === "number" &&
    (tokens === null || [access, refresh].every(isText))
  );
}
