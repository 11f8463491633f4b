import type { Clock } from "../../src/platform/platform.js";

/** Stands still until it is told otherwise. */
export class ManualClock implements Clock {
  #stalledMs = 0;

  constructor(private ms = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.ms;
  }

  elapsed(): number {
    return this.ms;
  }

  cpu(): number {
    return this.ms - this.#stalledMs;
  }

  advance(ms: number): void {
    this.ms += ms;
  }

  /** Time passes in which the process computes nothing, as on a busy machine. */
  stall(ms: number): void {
    this.ms += ms;
    this.#stalledMs += ms;
  }
}
