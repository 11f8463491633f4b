import type { Clock } from "../../platform/platform.js";
import type { TableName } from "../../sqlite/names.js";

/** How many milliseconds a try, which reads a page in the event loop, may take before it counts as too long. */
const longMs = 10;
/**
 * How many milliseconds of tries that took too long may stand against a table. While there are more, its pages are read
 * at once in the thread for long work.
 */
const owedMaxMs = 100;
/** How many milliseconds have to pass until one millisecond of a try that took too long is forgotten. */
const payOffMs = 500;

/**
 * Decides for each table whether a page of it may be read in the event loop first (a try), and not at once in the
 * thread for long work. A try may read a bounded number of rows, but these may be of any width. So the time of tries
 * that took too long is added up for each table, over all its requests. While the sum is too high, no page of the table
 * is tried. In the long run such tries of a table take a 500th of the event loop's time. A short try may seem long
 * because the process had to wait for a processor, but such tries do not add up to as much.
 */
export class BriefTries {
  /** For each table, the time (`Clock.elapsed`) at which all of its tries that took too long will be forgotten. */
  readonly #paidAtMs = new Map<TableName, number>();

  constructor(private readonly clock: Pick<Clock, "elapsed">) {}

  /** Whether a page of the table may be tried in the event loop now. */
  may(table: TableName): boolean {
    const paidAtMs = this.#paidAtMs.get(table);
    return paidAtMs === undefined || paidAtMs - this.clock.elapsed() <= owedMaxMs * payOffMs;
  }

  /**
   * Calls `read`, which reads a page of the table, and measures how long it takes until it returns its promise. By then
   * the statement has run. What follows is not measured, because the event loop may do other work before the promise is
   * settled.
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
