import type { SessionStorage } from "./surroundings.js";

/** The user whom a token response of the server names. */
export interface TokenUser {
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

/** A session as this device knows it. */
export interface Session {
  /**
   * A text that is unique for each session and each renewal, so that a tab sees whether another tab has renewed the
   * session.
   */
  readonly stamp: string;
  readonly user: TokenUser;
  /** When the access token expires, by the clock of this device. */
  readonly expiresAtMs: number;
  /** The session's tokens; null in cookie mode, where only the browser holds them. */
  readonly tokens: { readonly access: string; readonly refresh: string } | null;
}

/**
 * What this device knows of the session. Null means signed out. Undefined means that nothing is known, as on the first
 * visit of a page.
 */
export type Known = Session | null | undefined;

/** Called with the user after somebody has signed in, or with null after signing out. */
export type Listener = (user: TokenUser | null) => void;

/**
 * Keeps the session in the storage that all tabs of an origin share, and a copy in memory, so that a storage that is
 * full, cleared or unreadable does not sign anybody out.
 */
export class Sessions {
  readonly #storage: SessionStorage;
  readonly #key: string;
  readonly #cookies: boolean;
  #copy: Known;
  /** The id of the user of whom listeners were told last; undefined before the first load. */
  #told: string | null | undefined;
  /**
   * How often the session was saved: if the number changes while the session is read from the storage, what was read is
   * out of date.
   */
  #saves = 0;
  /**
   * The `stamp` of an outdated session that the storage still holds, because it could neither be overwritten nor
   * removed. A session with this stamp is ignored when it is read.
   */
  #superseded: string | undefined;
  readonly #listeners = new Set<{ readonly listener: Listener }>();

  constructor(storage: SessionStorage, key: string, cookies: boolean) {
    this.#storage = storage;
    this.#key = key;
    this.#cookies = cookies;
    storage.subscribe?.((changed) => {
      if (changed === null || changed === key) void this.load().then(() => this.#tell());
    });
  }

  async load(): Promise<Known> {
    const saves = this.#saves;
    const found = await this.#read();
    const isNewer = found !== undefined && (found === null || found.stamp !== this.#superseded);
    if (isNewer && saves === this.#saves) this.#copy = found;
    // A session that a page finds when it opens is no change, so listeners are not called.
    if (this.#told === undefined) this.#told = this.#copy?.user.id ?? null;
    else this.#tell();
    return this.#copy;
  }

  /** Stores the session. Null signs out, and is stored too, so that other tabs see it. */
  async save(session: Session | null): Promise<void> {
    this.#saves++;
    const before = this.#copy;
    this.#copy = session;
    const text = JSON.stringify(session);
    if (!(await this.#stored(text))) {
      // The storage still holds the session before this one, which would be taken for the current one when the page is
      // loaded again. Removing that session also makes room for storing once more.
      await this.#quietly(() => this.#storage.remove(this.#key));
      if (!(await this.#stored(text))) this.#superseded = before?.stamp;
    }
    this.#tell();
  }

  listen(listener: Listener): () => void {
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
      // The stored session has tokens in cookie mode, or none without it: it was stored before the `session` option of
      // the client was changed.
      await this.#storage.remove(this.#key);
    } catch {
      // A storage that cannot be read tells nothing about the session.
    }
    return undefined;
  }

  /**
   * Calls the listeners if the user has changed. Each runs in a microtask, so that nothing that it does or throws
   * disturbs the caller.
   */
  #tell(): void {
    const user = this.#copy?.user ?? null;
    if ((user?.id ?? null) === (this.#told ?? null)) return;
    this.#told = user?.id ?? null;
    for (const { listener } of [...this.#listeners]) queueMicrotask(() => listener(user));
  }
}

/** Checks a stored value, which may come from another version of this library or from another program. */
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
