/** What was made for a key is not made again, unless half of `max` others have been asked for since. */
export class Memo<T> {
  /** Two halves: a key that is asked for again needs one look, where an order of all keys would have to be kept. */
  #recent = new Map<string, T>();
  #older = new Map<string, T>();

  /** Nothing is kept under longer keys, so that callers who ask for much cannot fill the memory with it. */
  constructor(
    private readonly max: number,
    private readonly keyLengthMax = 2_000,
  ) {}

  /** A null key is nobody else's. */
  get(key: string | null, make: () => T): T {
    if (key === null || key.length > this.keyLengthMax || this.max === 0) return make();
    const known = this.#recent.get(key);
    return known === undefined ? this.#remember(key, make) : known;
  }

  #remember(key: string, make: () => T): T {
    const made = this.#older.has(key) ? (this.#older.get(key) as T) : make();
    this.#recent.set(key, made);
    if (this.#recent.size * 2 > this.max) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    return made;
  }
}
