import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** @type {((options?: { execution: "async" }) => void) | undefined} */
let collect;

/**
 * Lets V8 collect garbage, with `async` soon, else before it returns. libsql frees statements and results when V8
 * collects them, and V8 does not know how much memory that frees. Does nothing where the runtime has no such function, as
 * Bun and Deno have none.
 * @param {{ execution: "async" }} [options]
 */
export function collectGarbage(options) {
  collect ??= collector();
  collect(options);
}

function collector() {
  try {
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc");
  } catch {
    return () => {};
  }
}
