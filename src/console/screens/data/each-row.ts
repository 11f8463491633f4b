import { SvcError } from "../../../client/index.js";
import { texts } from "../../texts.js";

/** How `eachRow` goes on: what it says of a row that failed, and a signal by which it ends before the next row. */
interface EachRowOptions<T> {
  readonly reasonOf: (row: T, error: unknown) => string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Acts on rows one after the other, and returns texts that say which were left out, and why. If one row fails, it goes
 * on with the next, unless there is no server or no session any more.
 */
export async function eachRow<T>(
  rows: readonly T[],
  act: (row: T) => Promise<unknown>,
  { reasonOf, signal }: EachRowOptions<T>,
): Promise<readonly string[]> {
  const leftOut: string[] = [];
  for (const [i, row] of rows.entries()) {
    if (signal?.aborted) return [...leftOut, texts.data.notTried.cancelled(rows.length - i)];
    try {
      await act(row);
    } catch (error) {
      leftOut.push(reasonOf(row, error));
      const rest = rows.length - i - 1;
      if (isOver(error)) return rest === 0 ? leftOut : [...leftOut, texts.data.notTried.failed(rest)];
    }
  }
  return leftOut;
}

/** Whether the next request would fail as well: there is no server, or no session. */
function isOver(error: unknown): boolean {
  return error instanceof SvcError && (error.status === 0 || error.status === 401);
}

const namedMax = 5;

/** Joins the first few reasons, and says how many more there are. */
export function someOf(reasons: readonly string[]): string {
  const rest = reasons.length - namedMax;
  return [...reasons.slice(0, namedMax), ...(rest > 0 ? [texts.data.moreReasons(rest)] : [])].join("; ");
}
