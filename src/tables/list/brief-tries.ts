import type { Clock } from "../../platform/platform.js";
import type { TableName } from "../../sqlite/names.js";

/** From how many milliseconds on a try was too long for the event loop. */
const longMs = 10;
/** For how many times as long as such a try took no page of its table is tried. */
const restFactor = 1_000;

/**
 * Of which tables pages are tried in the event loop. How many rows a try may read is bounded, but not how wide these
 * rows are. So where a try took long, no page of its table is tried for a while, whatever the request: the long tries
 * of a table together take a thousandth of the event loop's time.
 */
export class BriefTries {
  readonly #endsOfRest = new Map<TableName, number>();

  constructor(private readonly clock: Pick<Clock, "elapsed">) {}

  /** Whether a page of the table may be tried now. */
  may(table: TableName): boolean {
    return this.clock.elapsed() >= (this.#endsOfRest.get(table) ?? 0);
  }

  /**
   * Calls `read`, which reads a page of the table. It is measured until it returns its promise: by then the statement
   * has run, and afterwards the event loop may do the work of others.
   */
  during<T>(table: TableName, read: () => Promise<T>): Promise<T> {
    const fromMs = this.clock.elapsed();
    const result = read();
    const toMs = this.clock.elapsed();
    if (toMs - fromMs > longMs) this.#endsOfRest.set(table, toMs + (toMs - fromMs) * restFactor);
    return result;
  }
}
