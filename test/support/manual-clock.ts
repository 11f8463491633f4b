import type { Clock } from "../../src/platform/platform.js";

/** Stands still until it is told otherwise. */
export class ManualClock implements Clock {
  constructor(private ms = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.ms;
  }

  elapsed(): number {
    return this.ms;
  }

  advance(ms: number): void {
    this.ms += ms;
  }
}
