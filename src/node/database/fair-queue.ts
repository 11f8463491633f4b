/** Work that waits in a queue. */
export interface Waiting {
  /** A user, an API key, or all who are not signed in. Work of one principal is done in the order in which it came. */
  readonly principal: string;
  readonly isKey: boolean;
}

/** Limits for all principals together. */
export interface FairQueueLimits {
  /** How many pieces of work run at once. */
  readonly places: number;
  /** How many pieces of work may wait. */
  readonly waitingMax: number;
}

/**
 * How many pieces of work of a principal other than an API key run at once. API keys share a limit instead, which is
 * half of all places.
 */
const runningMax = 2;

/**
 * Decides which work runs next. Principals take turns; all who are not signed in are one. All API keys together have up
 * to half of the places, every other principal has up to two. The last free place is only for principals who have
 * nothing running, so that no principal can take all places. If too much work waits, one piece of the principal with
 * the most work waiting is refused (`docs/reference/limits.md#long-work`).
 */
export class FairQueue<W extends Waiting> {
  readonly #places: number;
  readonly #waitingMax: number;
  /** By principal, the oldest work first. The map's order is the order of turns. */
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
   * Adds work even to a full queue. Then the caller has to start what `next` returns, and to refuse what `removeExcess`
   * returns.
   */
  add(work: W): void {
    const line = this.#waiting.get(work.principal) ?? [];
    this.#waiting.set(work.principal, line);
    line.push(work);
    this.#waitingCount++;
  }

  /**
   * If more work waits than `waitingMax`, takes out one piece for the caller to refuse: the newest of the principal
   * with the most work waiting, and of several such principals, of the one whose turn comes last.
   */
  removeExcess(): W | undefined {
    if (this.#waitingCount <= this.#waitingMax) return undefined;
    const lines = [...this.#waiting.values()];
    const longest = lines.reduce((longest, line) => (line.length >= longest.length ? line : longest));
    const work = longest.at(-1)!;
    this.remove(work);
    return work;
  }

  /** Takes out work that is not wanted any more. False if it does not wait, because it runs or has ended. */
  remove(work: W): boolean {
    const line = this.#waiting.get(work.principal) ?? [];
    const index = line.indexOf(work);
    if (index === -1) return false;
    line.splice(index, 1);
    this.#waitingCount--;
    if (line.length === 0) this.#waiting.delete(work.principal);
    return true;
  }

  /** Whether all that `next` has returned has ended. */
  get isIdle(): boolean {
    return this.#runningCount === 0;
  }

  /** Takes out the next work, which counts as running until `done`. Undefined if none waits or none may run. */
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

  /** To be called when work that `next` returned has ended. */
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
