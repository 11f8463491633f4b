import type { Clock } from "../../platform/platform.js";
import type { TableName } from "../../sqlite/names.js";

/** How many milliseconds reading a page in the event loop may take before it counts as too long. */
const longMs = 10;
/**
 * How many milliseconds of pages that took too long a table may have run up. Beyond that, its pages are read in the
 * thread for long work.
 */
const owedMaxMs = 100;
/** How many milliseconds have to pass until one millisecond of a page that took too long is forgotten. */
const payOffMs = 500;

/**
 * Decides for which tables a page may be tried in the event loop. How many rows a try may read is bounded, but not how
 * wide these rows are. So the time of tries that took too long is added up for each table, whatever the requests, and
 * while it comes to too much, no page of the table is tried. In the long run such tries of a table take a 500th of the
 * event loop's time. A short try may seem long where the process had to wait for a processor; that does not add up to
 * as much.
 */
export class BriefTries {
  /** For each table, the time when its pages that took too long will all be forgotten, as `Clock.elapsed`. */
  readonly #paidAtMs = new Map<TableName, number>();

  constructor(private readonly clock: Pick<Clock, "elapsed">) {}

  /** Whether a page of the table may be tried in the event loop now. */
  may(table: TableName): boolean {
    const paidAtMs = this.#paidAtMs.get(table);
    return paidAtMs === undefined || paidAtMs - this.clock.elapsed() <= owedMaxMs * payOffMs;
  }

  /**
   * Calls `read`, which reads a page of the table, and measures it. The measurement ends when `read` returns its
   * promise: by then the statement has run, and afterwards the event loop may do other work.
   */
  during<T>(table: TableName, read: () => Promise<T>): Promise<T> {
    const fromMs = this.clock.elapsed();
    const result = read();
    const toMs = this.clock.elapsed();
    const tookMs = toMs - fromMs;
    if (tookMs > longMs) {
      const paidAtMs = Math.max(toMs, this.#paidAtMs.get(table) ?? 0);
      this.#paidAtMs.set(table, paidAtMs + tookMs * payOffMs);
    }
    return result;
  }
}
