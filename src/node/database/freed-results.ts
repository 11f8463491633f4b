import { getHeapStatistics } from "node:v8";
import { collectGarbage } from "./collect-garbage.js";
import type { NativeRow } from "./native-rows.js";

/** After how many characters of results their memory is freed. */
const passedMax = 8_388_608;
/** How many bytes may be in use so that freeing the others takes some ten milliseconds. */
const usedMax = 100_000_000;

/**
 * Frees the memory of long results that were sent. Without it, V8 would let some hundreds of megabytes of them gather
 * before it collects garbage for the first time.
 */
export class FreedResults {
  #passed = 0;

  count(rows: readonly NativeRow[]): void {
    for (const row of rows) for (const value of row) if (typeof value === "string") this.#passed += value.length;
    const passed = this.#passed;
    if (passed < passedMax) return;
    this.#passed = 0;
    // The more is in use besides the results, the longer it takes.
    if (getHeapStatistics().used_heap_size - passed > usedMax) return;
    collectGarbage();
  }
}
