/** `; did you mean X?`, where one of the names is a slip away from what was written, else nothing. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const ranked = [...names]
    .map((name) => ({ name, distance: distance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.max(name.length, written.length) / 3))
    .sort((a, b) => a.distance - b.distance);
  return ranked.length === 0 ? "" : `; did you mean ${ranked[0]!.name}?`;
}

const listedMax = 12;

/** What was meant, or else what there is to choose from. */
export function meantOrKnown(written: string, names: Iterable<string>): string {
  const all = [...names];
  const meant = didYouMean(written, all);
  if (meant !== "" || all.length === 0) return meant;
  const more = all.length > listedMax ? ", …" : "";
  return `; there ${all.length === 1 ? "is only" : "are"} ${all.slice(0, listedMax).join(", ")}${more}`;
}

/** Characters to insert, drop, replace, or swap with their neighbour (optimal string alignment). */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j += 1) {
      const above = rows[i - 1]!;
      const replaced = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = swaps ? rows[i - 2]![j - 2]! + 1 : replaced;
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, replaced, swapped));
    }
  }
  return rows[from.length]![to.length]!;
}
