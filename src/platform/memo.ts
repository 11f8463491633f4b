/** What was made for a key is not made again, unless `max` others have come since. */
export class Memo<T> {
  readonly #made = new Map<string, T>();

  constructor(private readonly max: number) {}

  /** A null key is nobody else's. */
  get(key: string | null, make: () => T): T {
    const known = key === null ? undefined : this.#made.get(key);
    if (known !== undefined) return known;
    const made = make();
    if (key === null) return made;
    if (this.#made.size >= this.max) this.#made.delete(this.#made.keys().next().value!);
    this.#made.set(key, made);
    return made;
  }
}
