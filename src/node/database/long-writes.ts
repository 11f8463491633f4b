import { DeadlineError, type LongWork, QueueFullError } from "../../platform/database.js";
import { Turns } from "./turns.js";

/** How many long writes may wait for their turn. */
const waitingMax = 256;
/**
 * After a long write was interrupted at its deadline, further ones of its principal are refused for this many times as
 * long as it ran.
 */
const interruptedRest = 10;
/** For how long they are refused at most. */
const interruptedRestMsMax = 60_000;

/**
 * Runs long writes one at a time, with pauses in which short writes get their turn. The order is such that no principal
 * has the database for itself (`docs/long-work.md#writes`).
 */
export class LongWrites {
  /** The next long write waits for as long as the last one took, so that short writes get their turn. */
  #isResting = false;
  /** Until when (as `performance.now()`) a principal's long writes are refused. */
  readonly #refusedUntilMs = new Map<string, number>();
  #isClosed = false;
  readonly #turns = new Turns({ places: 1, waitingMax }, () => this.#isClosed || !this.#isResting);

  /**
   * Runs a long write when it is its turn. `write` gets the time, as `performance.now()`, by which it has to end.
   * Throws what `write` throws, DeadlineError if its turn comes too late, and QueueFullError if too many wait or the
   * principal's last long write was interrupted not long ago.
   */
  async run<T>(long: LongWork, write: (endsAtMs: number) => Promise<T>): Promise<T> {
    const { principal, withinMs } = long;
    const askedMs = performance.now();
    const refusedMs = (this.#refusedUntilMs.get(principal) ?? 0) - askedMs;
    if (refusedMs > 0)
      throw new QueueFullError("the last long write of this caller was interrupted not long ago", refusedMs);
    const turn = await this.#turns.take(long, withinMs);
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

  /** Lets all waiting long writes begin, because a database that is being closed refuses each of them at once. */
  close(): void {
    this.#isClosed = true;
    this.#turns.beginNext();
  }

  #refuse(principal: string, fromMs: number): void {
    const nowMs = performance.now();
    for (const [known, untilMs] of this.#refusedUntilMs) if (untilMs <= nowMs) this.#refusedUntilMs.delete(known);
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
