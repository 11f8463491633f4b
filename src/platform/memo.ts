/**
 * A cache of bounded size: a two-generation LRU. An entry survives until at least `max / 2` other keys were used
 * after it. Values must not be undefined.
 */
export class Memo<T> {
  /**
   * The keys used since the generations last changed. A use costs one look-up, whereas an exact LRU would have to
   * reorder all keys.
   */
  #recent = new Map<string, T>();
  #older = new Map<string, T>();

  /**
   * `max` is the number of entries; 0 keeps none. Keys of more than `keyLengthMax` characters are not kept, so that
   * requests with long ones cannot fill the memory.
   */
  constructor(
    private readonly max: number,
    private readonly keyLengthMax = 2_000,
  ) {}

  /** The value of the key, or what `make` returns, which is kept from then on. For the key null nothing is kept. */
  get(key: string | null, make: () => T): T {
    if (key === null) return make();
    const known = this.find(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  /** The value of the key, if it is kept. Counts as a use. */
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
