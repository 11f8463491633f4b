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
  readonly #storage: SessionStorage;
  readonly #key: string;
  readonly #cookies: boolean;
  #copy: Known;
  /** The id that listeners know of. */
  #told: string | null | undefined;
  /** A save that began meanwhile makes what was read out of date. */
  #saves = 0;
  /** The stamp of what the storage still holds, as it took nothing newer. */
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
    // What a page finds when it opens is no change.
    if (this.#told === undefined) this.#told = this.#copy?.user.id ?? null;
    else this.#tell();
    return this.#copy;
  }

  /** Null signs out, and says so to the other tabs. */
  async save(session: Session | null): Promise<void> {
    this.#saves++;
    const before = this.#copy;
    this.#copy = session;
    const text = JSON.stringify(session);
    if (!(await this.#stored(text))) {
      // What is there now is over, would be taken for good after a reload, and takes the room.
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
      // Of a page that kept tokens before it left them to cookies, or the other way round.
      await this.#storage.remove(this.#key);
    } catch {
      // A storage that cannot be read says nothing.
    }
    return undefined;
  }

  /** After everything else is done: what a listener does, or throws, is the page's business. */
  #tell(): void {
    const user = this.#copy?.user ?? null;
    if ((user?.id ?? null) === (this.#told ?? null)) return;
    this.#told = user?.id ?? null;
    for (const { listener } of [...this.#listeners]) queueMicrotask(() => listener(user));
  }
}

/** What is stored may be of another version, or of somebody else. */
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
