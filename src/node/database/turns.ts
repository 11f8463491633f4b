import { DeadlineError, QueueFullError } from "../../platform/database.js";
import { FairQueue, type FairQueueLimits, type Waiting } from "./fair-queue.js";

/** Work that waits or runs: `begin` is called when its turn comes, `refuse` if too much work waits. */
export interface Turn extends Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Lets work begin in the order that `FairQueue` decides, as long as `mayBegin` says that any may begin. */
export class Turns {
  readonly #queue: FairQueue<Turn>;
  readonly #mayBegin: () => boolean;

  constructor(limits: FairQueueLimits, mayBegin: () => boolean) {
    this.#queue = new FairQueue(limits);
    this.#mayBegin = mayBegin;
  }

  /**
   * Resolves when the work may begin; the caller passes the turn to `end` when it has ended. Throws DeadlineError if
   * waiting takes longer than `withinMs`, and QueueFullError if too much waits.
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

  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  /** To be called when the answer of `mayBegin` may have changed. */
  beginNext(): void {
    if (!this.#mayBegin()) return;
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) next.begin();
  }
}
