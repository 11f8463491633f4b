/** Whose work it is. */
export interface Waiting {
  /** Work of one principal is done in the order in which it came. */
  readonly principal: string;
  /** Whether the principal is an API key. */
  readonly isKey: boolean;
}

/** How much runs at once, and how much waits. */
export interface FairQueueLimits {
  /** How much runs at once in all. */
  readonly places: number;
  /** How many wait. */
  readonly waitingMax: number;
}

/** How much of one principal, other than a key, runs at once. */
const runningMax = 2;

/**
 * Decides which work runs next. Principals take turns. API keys have up to half of the places between them, others two
 * each; and the last free place is only for those who have nothing running, so that no principal can take all places. Where
 * too much waits, whoever has most of it waiting gives a place up (`docs/reference/limits.md#long-work`).
 */
export class FairQueue<W extends Waiting> {
  readonly #places: number;
  readonly #waitingMax: number;
  /** What waits, by principal. Whose turn comes first is first. */
  readonly #waiting = new Map<string, W[]>();
  #waitingCount = 0;
  readonly #running = new Map<string, number>();
  #runningCount = 0;
  #keysRunning = 0;

  constructor({ places, waitingMax }: FairQueueLimits) {
    this.#places = places;
    this.#waitingMax = waitingMax;
  }

  /** Takes work in. When what may run has been taken out by `next`, `removeExcess` has to be called. */
  add(work: W): void {
    const line = this.#waiting.get(work.principal) ?? [];
    this.#waiting.set(work.principal, line);
    line.push(work);
    this.#waitingCount++;
  }

  /**
   * Takes out work if more waits than may: what came last from the principal with most of it waiting; of several such, from
   * the one who came last. Undefined where no more waits than may.
   */
  removeExcess(): W | undefined {
    if (this.#waitingCount <= this.#waitingMax) return undefined;
    const lines = [...this.#waiting.values()];
    const longest = lines.reduce((longest, line) => (line.length >= longest.length ? line : longest));
    const work = longest.at(-1)!;
    this.remove(work);
    return work;
  }

  /** Takes waiting work out again. False where it does not wait. */
  remove(work: W): boolean {
    const line = this.#waiting.get(work.principal) ?? [];
    const index = line.indexOf(work);
    if (index === -1) return false;
    line.splice(index, 1);
    this.#waitingCount--;
    if (line.length === 0) this.#waiting.delete(work.principal);
    return true;
  }

  /** Whether nothing runs. */
  get isIdle(): boolean {
    return this.#runningCount === 0;
  }

  /** The work that runs from now on, until `done`. Undefined where none may. */
  next(): W | undefined {
    for (const [principal, line] of this.#waiting) {
      const work = line[0]!;
      if (!this.#mayRun(work)) continue;
      this.remove(work);
      // Whoever had a turn goes to the end of the line.
      if (this.#waiting.delete(principal)) this.#waiting.set(principal, line);
      this.#count(work, 1);
      return work;
    }
    return undefined;
  }

  /** Says that work which `next` returned has ended. */
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
