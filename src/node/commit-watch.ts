import type { Commits, CommitWait } from "../platform/commits.js";

/** How often it is asked whether another process has committed, in milliseconds, while somebody waits. */
const othersEveryMs = 1_000;

/** Tells of the commits of this process at once, and of those of other processes within a second. */
export class CommitWatch implements Commits {
  #count = 0;
  readonly #waiting = new Set<() => void>();
  #polling: NodeJS.Timeout | undefined;
  #version: number | undefined;

  /** `version` gives a number that changes when another connection commits (`PRAGMA data_version`). */
  constructor(private readonly version: () => number) {}

  /** A write of this process has been committed. */
  committed(): void {
    this.#count++;
    for (const wake of this.#waiting) wake();
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
      this.#waiting.add(wake);
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
      // Busy or closed: the next turn looks again.
      return;
    }
    const isNew = version !== this.#version;
    this.#version = version;
    if (isNew) this.committed();
  }
}
