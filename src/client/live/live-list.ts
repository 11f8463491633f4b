import type { Change, LiveState } from "./changes.js";
import type { Feed } from "./feed.js";
import { orderOf } from "./order.js";
import type { Overlays, Terms } from "./overlays.js";

/** Which rows a live list shows, in which order and how many. */
export interface Shown {
  readonly table: string;
  readonly terms: Terms;
  readonly sort: readonly string[];
  readonly limit: number;
}

/**
 * Calls `listener` with at most `limit` rows of a feed of one table, in the order of `sort`: once they are known, and
 * whenever the rows, the feed's state or the overlays change. Returns a function that ends this.
 */
export function liveList(
  feed: Feed,
  overlays: Overlays,
  { table, terms, sort, limit }: Shown,
  listener: (rows: Change["row"][], state: LiveState) => void,
): () => void {
  const order = orderOf(sort);
  let rows: Change["row"][] = [];
  let state: LiveState | null = null;
  const arrange = () => {
    const isOver = state!.status === "signed_out" || state!.status === "refused";
    const shown = isOver ? [] : [...overlays.over(table, terms, [...feed.rows], feed.clients)];
    rows = shown.sort(order).map(({ row }) => row);
  };
  const notify = () => listener(rows.slice(0, limit), state!);
  const forget = overlays.listen(() => {
    if (state === null) return;
    arrange();
    notify();
  });
  const end = feed.subscribe((now, step) => {
    const isOther = now.status !== state?.status;
    state = now;
    if (step !== null || isOther) arrange();
    notify();
  });
  return () => {
    forget();
    end();
  };
}
