import type { Commits, CommitWait } from "../../platform/commits.js";

/** How often the database is asked whether another process has committed, while a caller waits for a commit. */
const othersEveryMs = 1_000;

/**
 * Counts commits and wakes those who wait for one: at once after a commit of this process, and within a second after
 * one of another process. Several commits of other processes within that second may count as one.
 */
export class CommitWatch implements Commits {
  #count = 0;
  /**
   * What wakes each waiting caller, with the number of commits that it knew of. Those who have waited longest come
   * first.
   */
  readonly #waiting = new Map<() => void, number>();
  #isWaking = false;
  #polling: NodeJS.Timeout | undefined;
  #version: number | undefined;

  /** `version` returns `PRAGMA data_version`, which changes when another connection commits. */
  constructor(private readonly version: () => number) {}

  /** To be called after each committed write of this process. */
  committed(): void {
    this.#count++;
    if (!this.#isWaking) this.#wakeNext();
  }

  announce(): void {
    this.committed();
  }

  /** Wakes one caller in each turn of the event loop, because each may query the database as soon as it is woken. */
  #wakeNext(): void {
    const [first] = this.#waiting;
    this.#isWaking = first !== undefined && first[1] !== this.#count;
    if (!this.#isWaking) return;
    first![0]();
    setImmediate(() => this.#wakeNext());
  }

  known(): number {
    return this.#count;
  }

  within(ms: number): CommitWait {
    const endsAtMs = performance.now() + ms;
    return {
      get isOver() {
        return performance.now() >= endsAtMs;
      },
      next: (known, signal) => this.#next(known, endsAtMs - performance.now(), signal),
    };
  }

  #next(known: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#count !== known || signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        if (this.#waiting.size === 0) clearInterval(this.#polling);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener("abort", wake);
      if (this.#waiting.size === 0) this.#poll();
      this.#waiting.set(wake, known);
    });
  }

  #poll(): void {
    this.#polling = setInterval(() => this.#look(), othersEveryMs);
    this.#polling.unref();
  }

  #look(): void {
    let version: number;
    try {
      version = this.version();
    } catch {
      // The database is locked or closed. The next turn of the timer tries again.
      return;
    }
    const isNew = version !== this.#version;
    this.#version = version;
    if (isNew) this.committed();
  }
}
