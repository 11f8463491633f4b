/** What was made for a key is not made again, unless `max` others have been asked for since. */
export class Memo<T> {
  /** The least recently asked for first. */
  readonly #made = new Map<string, T>();

  /** Nothing is kept under longer keys, so that callers who ask for much cannot fill the memory with it. */
  constructor(
    private readonly max: number,
    private readonly keyLengthMax = 2_000,
  ) {}

  /** A null key is nobody else's. */
  get(key: string | null, make: () => T): T {
    if (key === null || key.length > this.keyLengthMax) return make();
    const made = this.#made.has(key) ? (this.#made.get(key) as T) : make();
    this.#made.delete(key);
    this.#made.set(key, made);
    if (this.#made.size > this.max) this.#made.delete(this.#made.keys().next().value!);
    return made;
  }
}
