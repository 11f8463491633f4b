/** Work that waits in a queue. */
export interface Waiting {
  /** A user, an API key, or all who are not signed in. Work of one principal is done in the order in which it came. */
  readonly principal: string;
  /** As in `LongWork`. */
  readonly address?: string;
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
 * How many pieces of work of a principal other than an API key run at once, and how many from one client address. API
 * keys share a limit instead, which is half of all places.
 */
const runningMax = 2;

/**
 * Decides which work runs next. Principals take turns; all who are not signed in are one. All API keys together have up
 * to half of the places, every other principal has up to two, and so has every client address: otherwise one person with
 * several accounts could take all places. The last free place is only for principals and addresses that have nothing
 * running. If too much work waits, one piece is refused of the address or principal with the most work waiting
 * (`docs/reference/limits.md#long-work`).
 */
export class FairQueue<W extends Waiting> {
  readonly #places: number;
  readonly #waitingMax: number;
  /** By principal, the oldest work first. The map's order is the order of turns. */
  readonly #waiting = new Map<string, W[]>();
  #waitingCount = 0;
  /** By what `holdersOf` names. */
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
   * If more work waits than `waitingMax`, takes out one piece for the caller to refuse: the newest of the address or
   * principal with the most work waiting, and of several such, of the one whose turn comes last.
   */
  removeExcess(): W | undefined {
    if (this.#waitingCount <= this.#waitingMax) return undefined;
    const all = [...this.#waiting.values()].flat();
    const counts = new Map<string, number>();
    for (const holder of all.flatMap(holdersOf)) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    const share = (work: W) => Math.max(...holdersOf(work).map((holder) => counts.get(holder)!));
    const work = all.reduce((most, each) => (share(each) >= share(most) ? each : most));
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
      const work = line.find((each) => this.#mayRun(each));
      if (work === undefined) continue;
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

  #mayRun(work: W): boolean {
    const own = Math.max(...holdersOf(work).map((holder) => this.#running.get(holder) ?? 0));
    const free = this.#places - this.#runningCount;
    if (free === 0 || (free === 1 && own > 0)) return false;
    return work.isKey ? this.#keysRunning < Math.max(1, Math.floor(this.#places / 2)) : own < runningMax;
  }

  #count(work: W, difference: 1 | -1): void {
    for (const holder of holdersOf(work)) {
      const own = (this.#running.get(holder) ?? 0) + difference;
      if (own === 0) this.#running.delete(holder);
      else this.#running.set(holder, own);
    }
    this.#runningCount += difference;
    if (work.isKey) this.#keysRunning += difference;
  }
}

/**
 * Whose limit work counts against: the principal's, and the client address's. All API keys may have one address, that of
 * the owner's own server, so only the key counts.
 */
function holdersOf({ principal, address, isKey }: Waiting): readonly string[] {
  return isKey || address === undefined ? [principal] : [principal, `from ${address}`];
}
