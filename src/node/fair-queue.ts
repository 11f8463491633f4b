/** Says who asked for a piece of work that waits in a queue. */
export interface Waiting {
  /**
   * Who asked for the work: a user, an API key, or everybody who is not signed in. Work of one principal is done in the
   * order in which it came.
   */
  readonly principal: string;
  /** Whether the principal who asked for the work is an API key. */
  readonly isKey: boolean;
}

/** How many pieces of work a fair queue lets run and wait. */
export interface FairQueueLimits {
  /** How many pieces of work run at once, of all principals together. */
  readonly places: number;
  /** How many pieces of work may wait, of all principals together. */
  readonly waitingMax: number;
}

/** How many pieces of work of one principal run at once; API keys are limited together instead. */
const runningMax = 2;

/**
 * Decides which work runs next. Principals take turns. API keys have up to half of the places between them, others two
 * each; and the last free place is only for those who have nothing running, so that no principal can take all places. Where
 * too much waits, whoever has most of it waiting gives a place up (`docs/reference/limits.md#long-work`).
 */
export class FairQueue<W extends Waiting> {
  readonly #places: number;
  readonly #waitingMax: number;
  /**
   * The work that waits, by principal, oldest first. The map's order is the order in which principals get their turns.
   */
  readonly #waiting = new Map<string, W[]>();
  #waitingCount = 0;
  readonly #running = new Map<string, number>();
  #runningCount = 0;
  #keysRunning = 0;

  constructor({ places, waitingMax }: FairQueueLimits) {
    this.#places = places;
    this.#waitingMax = waitingMax;
  }

  /**
   * Puts work into the queue, even if it is full. After that, the caller has to start what `next` returns, and to
   * refuse what `removeExcess` returns.
   */
  add(work: W): void {
    const line = this.#waiting.get(work.principal) ?? [];
    this.#waiting.set(work.principal, line);
    line.push(work);
    this.#waitingCount++;
  }

  /**
   * Where more work waits than `waitingMax`, takes one piece out and returns it, so that the caller can refuse it: the
   * newest one of the principal with the most work waiting; where several have as much, of the one who came last.
   * Undefined where no more waits than may.
   */
  removeExcess(): W | undefined {
    if (this.#waitingCount <= this.#waitingMax) return undefined;
    const lines = [...this.#waiting.values()];
    const longest = lines.reduce((longest, line) => (line.length >= longest.length ? line : longest));
    const work = longest.at(-1)!;
    this.remove(work);
    return work;
  }

  /**
   * Takes a piece of work out of the queue, because it is not wanted any more. Returns false where the work does not
   * wait, because it runs or has ended.
   */
  remove(work: W): boolean {
    const line = this.#waiting.get(work.principal) ?? [];
    const index = line.indexOf(work);
    if (index === -1) return false;
    line.splice(index, 1);
    this.#waitingCount--;
    if (line.length === 0) this.#waiting.delete(work.principal);
    return true;
  }

  /** Whether no work of the queue runs at the moment. */
  get isIdle(): boolean {
    return this.#runningCount === 0;
  }

  /**
   * Takes the next piece of work out of the queue, which counts as running until `done` is called with it. Undefined
   * where none waits or none may run.
   */
  next(): W | undefined {
    for (const [principal, line] of this.#waiting) {
      const work = line[0]!;
      if (!this.#mayRun(work)) continue;
      this.remove(work);
      // A principal who had a turn goes behind all others.
      if (this.#waiting.delete(principal)) this.#waiting.set(principal, line);
      this.#count(work, 1);
      return work;
    }
    return undefined;
  }

  /** To be called when work that `next` returned has ended, so that its place is free. */
  done(work: W): void {
    this.#count(work, -1);
  }

  #mayRun({ principal, isKey }: W): boolean {
    const own = this.#running.get(principal) ?? 0;
    const free = this.#places - this.#runningCount;
    if (free === 0 || (free === 1 && own > 0)) return false;
    return isKey ? this.#keysRunning < Math.max(1, Math.floor(this.#places / 2)) : own < runningMax;
  }

  #count({ principal, isKey }: W, difference: 1 | -1): void {
    const own = (this.#running.get(principal) ?? 0) + difference;
    if (own === 0) this.#running.delete(principal);
    else this.#running.set(principal, own);
    this.#runningCount += difference;
    if (isKey) this.#keysRunning += difference;
  }
}
