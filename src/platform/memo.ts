/**
 * A map with a bound, as a cache: a two-generation LRU. An entry survives until at least half of `max` others were used since it
 * was. What is kept must not be undefined.
 */
export class Memo<T> {
  /** Used since the last change of generations. A use costs one look-up, where an order of all keys would have to be kept up. */
  #recent = new Map<string, T>();
  #older = new Map<string, T>();

  /**
   * `max` counts entries; 0 keeps none. Keys of more than `keyLengthMax` characters are not kept, so that callers who ask for
   * much cannot fill the memory with it.
   */
  constructor(
    private readonly max: number,
    private readonly keyLengthMax = 2_000,
  ) {}

  /** What is kept under the key; otherwise what `make` returns, which is kept from then on. Nothing is kept under null. */
  get(key: string | null, make: () => T): T {
    if (key === null) return make();
    const known = this.find(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  /** What is kept under the key, if anything. It counts as a use. */
  find(key: string): T | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: T): void {
    if (key.length > this.keyLengthMax || this.max === 0) return;
    this.#recent.set(key, value);
    if (this.#recent.size * 2 <= this.max) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  delete(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}
