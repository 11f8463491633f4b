import { drainMs, longWorkMs } from "./listening.js";

/** How long new requests are held back at most while an app is exchanged. */
const heldMsMax = 1_000;
/** How long an exchange waits for the requests in progress. Those that take longer go on. */
const endedWithinMs = 250;

/** Counts the requests in progress, and holds back new ones while the app that answers them is exchanged. */
export class Gate {
  #count = 0;
  readonly #whenFewer = new Set<() => void>();
  #held: Promise<void> | null = null;

  /** Answers a request once none are held back. */
  async pass<T>(answer: () => T | Promise<T>): Promise<T> {
    while (this.#held !== null) await this.#held;
    this.#count++;
    try {
      return await answer();
    } finally {
      this.#count--;
      for (const look of this.#whenFewer) look();
    }
  }

  /**
   * Holds new requests back, waits for those in progress, runs `act` and lets the others through, all within `heldMsMax`
   * unless `act` takes longer: then they go on before it ends. `own` says how many of the requests in progress wait for
   * this.
   */
  async exchange<T>(own: () => number, act: () => Promise<T>): Promise<T> {
    let release = () => {};
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    const open = () => {
      this.#held = null;
      release();
    };
    const latest = setTimeout(open, heldMsMax);
    try {
      await this.#fewerThan(() => own() + 1, endedWithinMs);
      return await act();
    } finally {
      clearTimeout(latest);
      open();
    }
  }

  /** Resolves once no request is in progress, or after `drainMs`. Calls `endLongWork` if some are after `longWorkMs`. */
  async ended(endLongWork: () => Promise<void>): Promise<void> {
    const interrupt = setTimeout(endLongWork, longWorkMs);
    await this.#fewerThan(() => 1, drainMs);
    clearTimeout(interrupt);
  }

  /** Resolves once fewer requests are in progress, or after `withinMs`. */
  #fewerThan(count: () => number, withinMs: number): Promise<void> {
    if (this.#count < count()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(latest);
        this.#whenFewer.delete(look);
        resolve();
      };
      const look = () => {
        if (this.#count < count()) end();
      };
      const latest = setTimeout(end, withinMs);
      this.#whenFewer.add(look);
    });
  }
}
