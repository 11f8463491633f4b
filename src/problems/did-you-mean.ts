import { shown } from "./problem.js";

/** The longest text, in characters, for which a similar name is looked for: no name is longer. */
const writtenMax = 100;

/**
 * The most names that a misspelt name is compared with. With more, none is suggested: checking a file with thousands of
 * names, each of them unknown somewhere, would otherwise take minutes.
 */
const comparedMax = 500;

/**
 * The end of a message about an unknown name: `; did you mean X?`. Empty if no name is similar enough, or if there are
 * too many to compare.
 */
export function didYouMean(written: string, names: readonly string[]): string {
  if (written.length > writtenMax || names.length > comparedMax) return "";
  const slips = (name: string) => Math.max(1, Math.max(name.length, written.length) / 3);
  const ranked = names
    .filter((name) => Math.abs(name.length - written.length) <= slips(name))
    .map((name) => ({
      name,
      distance: distance(...withoutPrefix(written.toLowerCase(), name.toLowerCase())),
    }))
    .filter(({ name, distance }) => distance <= slips(name))
    .sort((a, b) => a.distance - b.distance);
  return ranked.length === 0 ? "" : `; did you mean ${shown(ranked[0]!.name)}?`;
}

const listedMax = 12;

/**
 * The end of a message about an unknown name: the suggestion of `didYouMean`, or else a list of at most `listedMax`
 * names, those of the first list first. Empty if there are no names.
 */
export function meantOrKnown(written: string, ...lists: readonly Iterable<string>[]): string {
  const all = firstOf(lists, comparedMax + 1);
  const meant = didYouMean(written, all);
  if (meant !== "" || all.length === 0) return meant;
  const listed = all.slice(0, listedMax).map((name) => shown(name));
  const more = all.length > listedMax ? ", …" : "";
  return `; there ${all.length === 1 ? "is only" : "are"} ${listed.join(", ")}${more}`;
}

/** The first `count` items of all lists, without reading further items. */
function firstOf<T>(lists: readonly Iterable<T>[], count: number): T[] {
  const first: T[] = [];
  for (const list of lists)
    for (const item of list) {
      if (first.length === count) return first;
      first.push(item);
    }
  return first;
}

/**
 * Both texts without their common beginning. That does not change their edit distance, and names of one project often
 * begin alike.
 */
function withoutPrefix(from: string, to: string): [string, string] {
  let at = 0;
  while (at < from.length && from[at] === to[at]) at += 1;
  return [from.slice(at), to.slice(at)];
}

/**
 * The edit distance of two texts by optimal string alignment: insertions, deletions, replacements, and swaps of
 * neighbours.
 */
function distance(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = swaps ? twoAbove[j - 2]! + 1 : replaced;
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, replaced, swapped));
    }
    twoAbove = above;
    above = row;
  }
  return above[to.length]!;
}
