import type { LongWork } from "../../platform/database.js";
import { Memo } from "../../platform/memo.js";
import type { Clock } from "../../platform/platform.js";
import type { TableName } from "../../sqlite/names.js";

/** How many milliseconds a try, which reads a page in the event loop, may take before it counts as too long. */
const longMs = 10;
/**
 * How many milliseconds of tries that took too long may stand against a caller and a table. While there are more, the
 * caller's pages of the table are read at once in the thread for long work.
 */
const owedMaxMs = 100;
/** How many milliseconds have to pass until one millisecond of a try that took too long is forgotten. */
const payOffMs = 500;
/** How much of it is remembered, in bytes. */
const rememberedBytesMax = 262_144;

/** How old a measurement of the CPU time may be from which a try is measured. */
const sampleMsMax = 5;

/** Names the caller, if need be. */
type CallerOf = () => Pick<LongWork, "principal" | "address">;

/**
 * Decides for each caller and table whether a page may be read in the event loop first (a try), and not at once in the
 * thread for long work. A try may read a bounded number of rows and bytes, but its conditions may be of any number. So
 * the time of tries that took too long is added up for each caller and table, over all requests. While the sum is too
 * high, no page of the table is tried for the caller. In the long run such tries take a 500th of the event loop's time.
 * It is CPU time that counts: on a busy machine a try may take long because it waits for a processor.
 */
export class BriefTries {
  /** By caller and table, the time (`Clock.elapsed`) at which all tries that took too long will be forgotten. */
  readonly #paidAtMs = new Memo<number>(rememberedBytesMax);
  #hasPassed = false;
  #sample = { atMs: Number.NEGATIVE_INFINITY, cpuMs: 0 };

  constructor(private readonly clock: Pick<Clock, "elapsed" | "cpu">) {}

  /** Whether a page of the table may be tried for the caller in the event loop now. */
  may(caller: CallerOf, table: TableName): boolean {
    // Mostly no try has taken too long, and no name has to be made.
    if (!this.#hasPassed) return true;
    const paidAtMs = this.#paidAtMs.find(nameOf(caller, table));
    return paidAtMs === undefined || paidAtMs - this.clock.elapsed() <= owedMaxMs * payOffMs;
  }

  /**
   * Calls `read`, which reads a page of the table, and measures how long it takes until it returns its promise. By then
   * the statement has run. What follows is not measured, because the event loop may do other work before the promise is
   * settled.
   */
  during<T>(caller: CallerOf, table: TableName, read: () => Promise<T>): Promise<T> {
    const { clock } = this;
    const fromMs = clock.elapsed();
    // Measuring takes a microsecond, so that several tries are measured from the same moment.
    if (!(fromMs - this.#sample.atMs < sampleMsMax)) this.#sample = { atMs: fromMs, cpuMs: clock.cpu() };
    const result = read();
    const toMs = clock.elapsed();
    if (toMs - fromMs > longMs) {
      // The CPU time is that of all threads, so it may exceed the time that has passed.
      const tookMs = Math.min(toMs - fromMs, clock.cpu() - this.#sample.cpuMs);
      if (tookMs > longMs) this.#charge(nameOf(caller, table), toMs, tookMs);
    }
    return result;
  }

  #charge(name: string, nowMs: number, tookMs: number): void {
    this.#hasPassed = true;
    const paidAtMs = Math.max(nowMs, this.#paidAtMs.find(name) ?? 0);
    this.#paidAtMs.set(name, paidAtMs + tookMs * payOffMs);
  }
}

function nameOf(caller: CallerOf, table: TableName): string {
  const { principal, address } = caller();
  return principal === "anonymous" ? `${address} ${table}` : `${principal} ${table}`;
}
