import { DeadlineError, type LongWork, QueueFullError } from "../platform/database.js";
import { Turns } from "./turns.js";

/** How many long writes may wait for their turn. */
const waitingMax = 256;
/**
 * After a long write that was interrupted at its deadline, further ones of the same principal are refused for as long
 * as it took, times this.
 */
const interruptedRest = 10;
/** The longest time, in milliseconds, for which they are refused. */
const interruptedRestMsMax = 60_000;

/**
 * Takes long writes one at a time, so that short ones come between them and no principal has the database for itself
 * (`docs/long-work.md#writes`).
 */
export class LongWrites {
  /**
   * Whether the last long write has ended so recently that no other may begin: they wait for as long as it took, so
   * that short writes get on.
   */
  #isResting = false;
  /**
   * Until when, as `performance.now()`, long writes of a principal are refused because the last one was interrupted at
   * its deadline.
   */
  readonly #refusedUntilMs = new Map<string, number>();
  #isClosed = false;
  readonly #turns = new Turns({ places: 1, waitingMax }, () => this.#isClosed || !this.#isResting);

  /**
   * Runs a write when it is its turn, with the time, as `performance.now()`, by which it has to end. Throws what the write
   * throws, DeadlineError where its turn comes too late, and QueueFullError.
   */
  async run<T>(
    { principal, isKey, withinMs }: LongWork,
    write: (endsAtMs: number) => Promise<T>,
  ): Promise<T> {
    const askedMs = performance.now();
    const refusedMs = (this.#refusedUntilMs.get(principal) ?? 0) - askedMs;
    if (refusedMs > 0)
      throw new QueueFullError("the last long write of this caller was interrupted not long ago", refusedMs);
    const turn = await this.#turns.take({ principal, isKey }, withinMs);
    const fromMs = performance.now();
    try {
      return await write(askedMs + withinMs);
    } catch (error) {
      if (error instanceof DeadlineError) this.#refuse(principal, fromMs);
      throw error;
    } finally {
      this.#rest(performance.now() - fromMs);
      this.#turns.end(turn);
    }
  }

  /** Lets all writes that wait through, because the database is being closed and refuses each of them at once. */
  close(): void {
    this.#isClosed = true;
    this.#turns.beginNext();
  }

  #refuse(principal: string, fromMs: number): void {
    const nowMs = performance.now();
    for (const [known, untilMs] of this.#refusedUntilMs)
      if (untilMs <= nowMs) this.#refusedUntilMs.delete(known);
    const restMs = Math.min(interruptedRest * (nowMs - fromMs), interruptedRestMsMax);
    this.#refusedUntilMs.set(principal, nowMs + restMs);
  }

  #rest(ms: number): void {
    this.#isResting = true;
    setTimeout(() => {
      this.#isResting = false;
      this.#turns.beginNext();
    }, ms).unref();
  }
}
