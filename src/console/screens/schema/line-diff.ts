/** A line in both texts (`same`), only in the old one (`removed`), or only in the new one (`added`). */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Compares two texts so that as many lines as possible stay (longest common subsequence). */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let toEnd = 0;
  while (toEnd < Math.min(a.length, b.length) - from && a.at(-1 - toEnd) === b.at(-1 - toEnd)) toEnd++;
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...a.slice(0, from).map(same),
    ...between(a.slice(from, a.length - toEnd), b.slice(from, b.length - toEnd)),
    ...a.slice(a.length - toEnd).map(same),
  ];
}

/**
 * The comparison takes time and memory for each pair of an old and a new line. With more pairs than these it is left
 * out: all old lines count as removed, and all new ones as added.
 */
const pairsMax = 4_000_000;

function between(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (a.length * b.length > pairsMax) return [...a.map(removed), ...b.map(added)];
  // lengths[i][j] is that of the longest common subsequence of the lines of a from i on and the lines of b from j on.
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i]! });
      i++;
      j++;
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) lines.push(removed(a[i++]!));
    else lines.push(added(b[j++]!));
  }
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/** The changed lines, with `around` lines before and after each. Null stands for lines left out in between. */
export function shownLines(lines: readonly DiffLine[], around = 3): readonly (DiffLine | null)[] {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some(({ kind }) => kind !== "same"),
  );
  return lines.flatMap((line, i) => {
    if (near[i]) return [line];
    return i === 0 || near[i - 1] ? [null] : [];
  });
}
