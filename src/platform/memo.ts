/** How much a `Memo` keeps. */
export interface MemoBounds<T> {
  /**
   * About how many bytes an entry takes. By default one for each character of its key, which is good enough if the
   * values are small.
   */
  readonly weigh?: (key: string, value: T) => number;
  /**
   * An entry with a longer key is not cached, so that one request with a long key cannot push out entries that many
   * requests share.
   */
  readonly keyLengthMax?: number;
}

/**
 * For caches by SQL text. The statement for one page of a table of 100 columns has some 11,000 characters, or 100,000
 * if the columns hold real numbers. If it was not cached, each request would prepare it anew, which takes ten times as
 * long as running it.
 */
export const statementLengthMax = 131_072;

/** The keys of caches that set none are mostly parts of requests. */
const keyLengthMaxDefault = 8_192;

/**
 * A cache that is bounded in bytes: an LRU of two generations. An entry stays at least until entries that weigh half of
 * `bytesMax` together were used after it. A value must not be undefined.
 */
export class Memo<T> {
  /**
   * The entries that were used since this generation was begun. Once it is full, it replaces `#older`, whose entries
   * are dropped. Using an entry costs one look-up, whereas an exact LRU would have to reorder all keys.
   */
  #recent = new Map<string, T>();
  #recentBytes = 0;
  #older = new Map<string, T>();
  readonly #weigh: (key: string, value: T) => number;
  readonly #keyLengthMax: number;

  /** `bytesMax` is what all entries together may weigh, in bytes; with 0 the cache keeps nothing. */
  constructor(
    private readonly bytesMax: number,
    { weigh = (key) => key.length, keyLengthMax = keyLengthMaxDefault }: MemoBounds<T> = {},
  ) {
    this.#weigh = weigh;
    this.#keyLengthMax = keyLengthMax;
  }

  /** The cached value, or else what `make` returns, which is then cached. For the key null, nothing is cached. */
  get(key: string | null, make: () => T): T {
    if (key === null) return make();
    const known = this.find(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  /** This counts as a use of the entry. */
  find(key: string): T | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  /**
   * Caches the value, unless its key is longer than `keyLengthMax`, or this entry alone weighs more than half of
   * `bytesMax`. What was cached for the key before is removed in any case.
   */
  set(key: string, value: T): void {
    this.delete(key);
    if (key.length > this.#keyLengthMax) return;
    const bytes = this.#weigh(key, value);
    const generationMax = this.bytesMax / 2;
    if (bytes > generationMax || generationMax === 0) return;
    if (this.#recentBytes + bytes > generationMax) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#recentBytes = 0;
    }
    this.#recent.set(key, value);
    this.#recentBytes += bytes;
  }

  delete(key: string): void {
    const recent = this.#recent.get(key);
    if (recent !== undefined) this.#recentBytes -= this.#weigh(key, recent);
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}
