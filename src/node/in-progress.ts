import { drainMs, longWorkMs } from "./listening.js";

/** Counts the requests that a host has passed on and that are not answered yet. */
export class InProgress {
  #count = 0;
  #whenNone = () => {};

  async during<T>(answer: () => Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await answer();
    } finally {
      this.#count--;
      if (this.#count === 0) this.#whenNone();
    }
  }

  /** Resolves once none is in progress, or after `drainMs`. Calls `endLongWork` if some are after `longWorkMs`. */
  async ended(endLongWork: () => Promise<void>): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const interrupt = setTimeout(endLongWork, longWorkMs);
      const deadline = setTimeout(resolve, drainMs);
      this.#whenNone = () => {
        clearTimeout(interrupt);
        clearTimeout(deadline);
        resolve();
      };
    });
  }
}
