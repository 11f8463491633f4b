import { DeadlineError, QueueFullError } from "../platform/database.js";
import { FairQueue, type FairQueueLimits, type Waiting } from "./fair-queue.js";

/** Work whose turn has come, or is awaited. */
export interface Turn extends Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Lets work begin in turns (`FairQueue`), while `mayBegin` says that any may. */
export class Turns {
  readonly #queue: FairQueue<Turn>;
  readonly #mayBegin: () => boolean;

  constructor(limits: FairQueueLimits, mayBegin: () => boolean) {
    this.#queue = new FairQueue(limits);
    this.#mayBegin = mayBegin;
  }

  /**
   * Resolves when the work may begin; `end` is to be called with the turn when it has ended. Throws DeadlineError where that
   * takes longer than `withinMs`, and QueueFullError where too much waits.
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

  /** Whether nothing runs. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  /** Begins what may begin. To be called when that may have changed. */
  beginNext(): void {
    if (!this.#mayBegin()) return;
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) next.begin();
  }
}
