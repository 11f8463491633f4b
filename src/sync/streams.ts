const ofSessionMax = 10;
const ofKeyMax = 100;
const ofAddressMax = 50;
const ofProcessMax = 1000;
/** How many streams there may be at once (docs/reference/limits.md#streams). */
const bounds = { session: ofSessionMax, key: ofKeyMax, address: ofAddressMax } as const;

/** Counts the streams of a process, and ends them. */
export class Streams {
  readonly #counts = new Map<string, number>();
  readonly #open = new Set<AbortController>();
  readonly #ending = new AbortController();

  /** Aborted when the process is about to end. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /**
   * Takes a place for a stream of a session, of a key or of an anonymous address; null where there is none left. The
   * stream has to be over once `signal` is aborted. `release` gives the place back.
   */
  take(of: "session" | "key" | "address", id: string): Stream | null {
    const name = `${of} ${id}`;
    const count = this.#counts.get(name) ?? 0;
    if (this.isEnding || count >= bounds[of] || this.#open.size >= ofProcessMax) return null;
    this.#counts.set(name, count + 1);
    const controller = new AbortController();
    this.#open.add(controller);
    return {
      signal: controller.signal,
      release: () => {
        if (!this.#open.delete(controller)) return;
        const left = this.#counts.get(name)! - 1;
        if (left === 0) this.#counts.delete(name);
        else this.#counts.set(name, left);
      },
    };
  }

  /** How many streams are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends all streams, and takes no more. */
  end(): void {
    this.#ending.abort();
    for (const controller of this.#open) controller.abort();
  }
}

/** A place for a stream. */
export interface Stream {
  readonly signal: AbortSignal;
  release(): void;
}
