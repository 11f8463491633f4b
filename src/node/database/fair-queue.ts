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

/**
 * How many pieces of work of one principal run at once, where the principal is a user or all who are not signed in. API
 * keys have a limit in common instead, which is half of all places.
 */
const runningMax = 2;

/**
 * Decides which work runs next. Principals (users, API keys, and all who are not signed in as one) take turns. All API
 * keys together have up to half of the places, every other principal has up to two. The last free place is only for
 * principals who have nothing running, so that no principal can take all places. Where too much work waits, one piece
 * of the principal with the most work waiting is refused (`docs/reference/limits.md#long-work`).
 */
export class FairQueue<W extends Waiting> {
  readonly #places: number;
  readonly #waitingMax: number;
  /**
   * The work that waits, by principal; the oldest work of each principal comes first. The map's order is the order in
   * which principals get their turns.
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
   * Where more work waits than `waitingMax`, takes one piece out of the queue and returns it, so that the caller can
   * refuse it. That is the newest piece of the principal with the most work waiting; of several principals with equally
   * much, of the one whose turn comes last. Undefined where no more work waits than may.
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

  /** Whether no work is running: all that `next` has returned has ended. */
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
      // A principal who had a turn goes behind all others in the order of turns.
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
