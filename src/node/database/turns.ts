import { DeadlineError, QueueFullError } from "../../platform/database.js";
import { FairQueue, type FairQueueLimits, type Waiting } from "./fair-queue.js";

/**
 * A piece of work that waits for its turn, or runs: `begin` is called when its turn comes, `refuse` where too much work
 * waits.
 */
export interface Turn extends Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Lets pieces of work begin in the order that `FairQueue` decides, as long as `mayBegin` says that any may begin at
 * all.
 */
export class Turns {
  readonly #queue: FairQueue<Turn>;
  readonly #mayBegin: () => boolean;

  constructor(limits: FairQueueLimits, mayBegin: () => boolean) {
    this.#queue = new FairQueue(limits);
    this.#mayBegin = mayBegin;
  }

  /**
   * Resolves when a piece of work may begin; the caller has to pass the turn to `end` when the work has ended. Throws
   * DeadlineError where waiting takes longer than `withinMs`, and QueueFullError where too much waits.
   */
  take(waiting: Waiting, withinMs: number): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const turn: Turn = {
        ...waiting,
        begin: () => {
          clearTimeout(timer);
          resolve(turn);
        },
        refuse: () => {
          clearTimeout(timer);
          reject(new QueueFullError("too much long work waits already"));
        },
      };
      const timer = setTimeout(() => {
        if (this.#queue.remove(turn)) reject(new DeadlineError("the deadline passed before its turn came"));
      }, withinMs);
      this.#queue.add(turn);
      this.beginNext();
      this.#queue.removeExcess()?.refuse();
    });
  }

  end(turn: Turn): void {
    this.#queue.done(turn);
    this.beginNext();
  }

  /** Whether no work runs at the moment. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  /** Begins all waiting work that may begin now. To be called when the answer of `mayBegin` may have changed. */
  beginNext(): void {
    if (!this.#mayBegin()) return;
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) next.begin();
  }
}
