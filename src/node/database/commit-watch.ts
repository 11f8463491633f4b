import type { Commits, CommitWait } from "../../platform/commits.js";

/**
 * How often, in milliseconds, the database is asked whether another process has committed. It is asked only while
 * somebody waits for a commit.
 */
const othersEveryMs = 1_000;

/**
 * Counts the commits to the database and wakes whoever waits for one: at once after a commit of this process, and
 * within a second after one of another process. Several commits of other processes within that second may count as one.
 */
export class CommitWatch implements Commits {
  #count = 0;
  /**
   * Callbacks to wake those who wait, each with the number of commits that its caller knew of. Those who have waited
   * longest come first.
   */
  readonly #waiting = new Map<() => void, number>();
  #isWaking = false;
  #polling: NodeJS.Timeout | undefined;
  #version: number | undefined;

  /** `version` returns SQLite's `PRAGMA data_version`, a number that changes when another connection commits. */
  constructor(private readonly version: () => number) {}

  /** To be called when a write of this process has been committed. */
  committed(): void {
    this.#count++;
    if (!this.#isWaking) this.#wakeNext();
  }

  /**
   * Wakes the one who has waited longest, and the next one in the next turn of the event loop, and so on. They are not
   * woken all together, because each may query the database as soon as it is woken.
   */
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
      // The version cannot be read while the database is locked, or after it was closed. The next turn of the timer
      // tries again.
      return;
    }
    const isNew = version !== this.#version;
    this.#version = version;
    if (isNew) this.committed();
  }
}
