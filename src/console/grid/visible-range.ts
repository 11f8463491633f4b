/** Which of the items that lie one behind the other are drawn: from `first` up to, and without, `end`. */
export interface VisibleRange {
  readonly first: number;
  readonly end: number;
}

/** What of `count` items of one size is to be drawn where `length` pixels from `start` are seen, with some more around it. */
export function visibleRows(
  count: number,
  size: number,
  start: number,
  length: number,
  overscan: number,
): VisibleRange {
  const first = Math.max(0, Math.floor(start / size) - overscan);
  const end = Math.min(count, Math.ceil((start + length) / size) + overscan);
  return { first: Math.min(first, Math.max(0, end)), end: Math.max(0, end) };
}

/** The same of items that begin at `offsets`, which has one more entry, for their end. */
export function visibleColumns(offsets: readonly number[], start: number, length: number): VisibleRange {
  const count = offsets.length - 1;
  let first = 0;
  while (first < count && offsets[first + 1]! <= start) first++;
  let end = first;
  while (end < count && offsets[end]! < start + length) end++;
  return { first: Math.max(0, first - 1), end: Math.min(count, end + 1) };
}

/** Where to scroll to so that an item is seen; `start` where it is. */
export function scrolledTo(begin: number, end: number, start: number, length: number): number {
  if (begin < start) return begin;
  return end > start + length ? end - length : start;
}
