const ofSessionMax = 10;
const ofKeyMax = 100;
const ofAddressMax = 50;
const ofProcessMax = 1000;
/** How many streams there may be at once (docs/reference/limits.md#streams). */
const bounds = { session: ofSessionMax, key: ofKeyMax, address: ofAddressMax } as const;

/**
 * Counts the streams of a process, and ends them. It holds functions and no AbortSignal, because on a Worker a signal
 * belongs to the request that made it.
 */
export class Streams {
  /** When the places end that are taken, by whom they are taken. */
  readonly #places = new Map<string, Set<Place>>();
  readonly #atEnd = new Set<() => void>();
  #isEnding = false;

  /**
   * Takes a place for a stream of a session, of a key or of an anonymous address, and returns what gives the place back;
   * null where there is no place left. Until `endsAtMs` at the latest the place is taken, as a runtime may not tell that a
   * client has gone. Both times are monotonic milliseconds.
   */
  take(of: keyof typeof bounds, id: string, nowMs: number, endsAtMs: number): (() => void) | null {
    for (const [name, places] of this.#places)
      for (const place of places) if (place.endsAtMs <= nowMs) this.#release(name, place);
    const name = `${of} ${id}`;
    const places = this.#places.get(name) ?? new Set();
    if (this.#isEnding || places.size >= bounds[of] || this.size >= ofProcessMax) return null;
    const place = { endsAtMs };
    this.#places.set(name, places.add(place));
    return () => this.#release(name, place);
  }

  #release(name: string, place: Place): void {
    const places = this.#places.get(name);
    places?.delete(place);
    if (places?.size === 0) this.#places.delete(name);
  }

  /** How many streams are open. */
  get size(): number {
    return [...this.#places.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether the process is about to end. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Calls `end` when the process is about to end, unless the function that is returned has been called before. */
  whenEnding(end: () => void): () => void {
    this.#atEnd.add(end);
    return () => {
      this.#atEnd.delete(end);
    };
  }

  /** Ends all streams and all waiting, and takes no more. */
  end(): void {
    this.#isEnding = true;
    for (const end of this.#atEnd) end();
  }
}

interface Place {
  readonly endsAtMs: number;
}
