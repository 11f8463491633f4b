/** Which rows or columns of a grid are rendered: those from index `first` to before index `end`. */
export interface VisibleRange {
  readonly first: number;
  readonly end: number;
}

/** Index -1, that of the headings and of the checkboxes, always is rendered. */
export function isRendered({ first, end }: VisibleRange, index: number): boolean {
  return index < 0 || (index >= first && index < end);
}

/**
 * The rows to render when the `length` pixels from `start` are in view. There are `count` rows of `size` pixels each,
 * and `overscan` rows are rendered beyond those in view, at either end.
 */
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

/**
 * The columns to render when the `length` pixels from `start` are in view, with one more on either side. `offsets` are
 * the pixels at which columns begin, and where the last one ends.
 */
export function visibleColumns(offsets: readonly number[], start: number, length: number): VisibleRange {
  const count = offsets.length - 1;
  let first = 0;
  while (first < count && offsets[first + 1]! <= start) first++;
  let end = first;
  while (end < count && offsets[end]! < start + length) end++;
  return { first: Math.max(0, first - 1), end: Math.min(count, end + 1) };
}

/**
 * The scroll position that shows the pixels from `begin` to `end`. Now the `length` pixels from `start` are in view;
 * `start` is returned if that is enough.
 */
export function scrolledTo(begin: number, end: number, start: number, length: number): number {
  if (begin < start) return begin;
  return end > start + length ? end - length : start;
}

/**
 * The indexes of a range in ascending order, with `other`, which is rendered wherever it is: scrolling must not take
 * the field away that somebody types into.
 */
export function indexesWith({ first, end }: VisibleRange, other: number | null): readonly number[] {
  const indexes = Array.from({ length: end - first }, (_, i) => first + i);
  if (other === null || (other >= first && other < end)) return indexes;
  return other < first ? [other, ...indexes] : [...indexes, other];
}
