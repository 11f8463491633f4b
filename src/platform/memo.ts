/** How much a `Memo` keeps. */
export interface MemoBounds<T> {
  /**
   * About how many bytes an entry takes. By default a byte for each character of its key, which is enough where the
   * values are small.
   */
  readonly weigh?: (key: string, value: T) => number;
  /** Entries with keys of more characters are not kept, so that one request cannot push out what many others share. */
  readonly keyLengthMax?: number;
}

/**
 * The `keyLengthMax` of caches whose keys are SQL texts. The statement for a page of a table of 100 columns has some
 * 11,000 characters, or 100,000 where they hold real numbers, and preparing such a statement for each request would
 * take ten times as long as running it.
 */
export const statementLengthMax = 131_072;

/** The `keyLengthMax` of other caches, whose keys hold texts of requests. */
const keyLengthMaxDefault = 8_192;

/**
 * A cache that is bounded in bytes: a two-generation LRU. An entry survives until others that weigh half of `bytesMax`
 * were used after it. Values must not be undefined.
 */
export class Memo<T> {
  /**
   * The entries that were used since the two generations last changed; `#older` holds those before. A use costs one
   * look-up, whereas an exact LRU would have to reorder all keys.
   */
  #recent = new Map<string, T>();
  #recentBytes = 0;
  #older = new Map<string, T>();
  readonly #weigh: (key: string, value: T) => number;
  readonly #keyLengthMax: number;

  /** `bytesMax` is what all entries of the cache together may weigh; 0 keeps none. */
  constructor(
    private readonly bytesMax: number,
    { weigh = (key) => key.length, keyLengthMax = keyLengthMaxDefault }: MemoBounds<T> = {},
  ) {
    this.#weigh = weigh;
    this.#keyLengthMax = keyLengthMax;
  }

  /**
   * The value that the cache has for the key, or what `make` returns, which is kept from then on. For the key null
   * nothing is kept.
   */
  get(key: string | null, make: () => T): T {
    if (key === null) return make();
    const known = this.find(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  /** The value that the cache has for the key; undefined where it has none. Counts as a use. */
  find(key: string): T | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  /** Keeps the value in the cache, unless its key is too long or it alone weighs more than a generation may. */
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
