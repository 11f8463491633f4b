import type { Change, LiveState } from "./changes.js";
import type { Feed } from "./feed.js";
import { orderOf } from "./order.js";

/**
 * Calls `listener` with the rows of a feed of one table, in the order of `sort` and at most `limit` of them, once they are
 * known and whenever they or the state change. Returns a function that ends this.
 */
export function liveList(
  feed: Feed,
  sort: readonly string[],
  limit: number,
  listener: (rows: Change["row"][], state: LiveState) => void,
): () => void {
  const order = orderOf(sort);
  let rows: Change["row"][] = [];
  return feed.subscribe((state, step) => {
    if (step !== null) rows = [...feed.rows].sort(order).map(({ row }) => row);
    listener(rows.slice(0, limit), state);
  });
}
