import { Session } from "node:inspector/promises";
import { setFlagsFromString } from "node:v8";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** Methods that look at each element in turn, in which V8 counts nothing. */
const silent = ["concat", "includes", "indexOf", "join", "lastIndexOf", "slice", "sort", "splice", "unshift"] as const;

/**
 * How many steps some work takes: the calls of functions and the runs of their blocks, as V8 counts them, and the elements
 * that methods of arrays look at. It is the same on every machine. What is called should be loaded by `load`, because V8
 * counts the blocks of what it compiles from then on.
 */
export async function countingSteps<T>(
  load: () => Promise<T>,
  use: (loaded: T, stepsOf: (work: () => unknown) => Promise<number>) => Promise<void>,
): Promise<void> {
  const session = new Session();
  session.connect();
  // Optimised code does not count the calls that it has taken in.
  setFlagsFromString("--no-opt");
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const taken = async () => {
    const { result } = (await session.post("Profiler.takePreciseCoverage")) as Coverage;
    return result
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      .reduce((sum, { count }) => sum + count, 0);
  };
  let looked = 0;
  const real = new Map(silent.map((name) => [name, Array.prototype[name]]));
  try {
    const loaded = await load();
    for (const [name, method] of real)
      Object.defineProperty(Array.prototype, name, {
        configurable: true,
        writable: true,
        value: function (this: readonly unknown[], ...args: never[]) {
          looked += this.length;
          return (method as (...args: never[]) => unknown).apply(this, args);
        },
      });
    await use(loaded, async (work) => {
      await taken();
      const before = looked;
      await work();
      const elements = looked - before;
      return (await taken()) + elements;
    });
  } finally {
    for (const [name, value] of real)
      Object.defineProperty(Array.prototype, name, { configurable: true, writable: true, value });
    await session.post("Profiler.stopPreciseCoverage");
    setFlagsFromString("--opt");
    session.disconnect();
  }
}
