import type { Change } from "./changes.js";

/**
 * Compares two rows as a list of the server does: by the columns of `sort` (`-` before a column is for descending
 * order), then by the key. Null comes first, and texts are in the order of their code points. A value that only the
 * server will set counts as the greatest: most are numbers or times that count up.
 */
export function orderOf(sort: readonly string[]): (a: Change, b: Change) => number {
  const terms = sort.map((term) => ({ column: term.replace(/^-/, ""), sign: term.startsWith("-") ? -1 : 1 }));
  return (a, b) => {
    for (const { column, sign } of terms) {
      const compared = compare(a.row![column], b.row![column]);
      if (compared !== 0) return sign * compared;
    }
    for (const column of Object.keys(a.key)) {
      const compared = compare(a.key[column], b.key[column]);
      if (compared !== 0) return compared;
    }
    return 0;
  };
}

/** Compares two values of a column as the server does. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string" && typeof b === "string")
    // The server sends integers beyond ±(2^53−1) as texts of their digits.
    return bigInteger.test(a) && bigInteger.test(b) ? Math.sign(Number(BigInt(a) - BigInt(b))) : compareTexts(a, b);
  return Number(a) - Number(b);
}

const bigInteger = /^-?\d{16,19}$/;

/**
 * Compares texts by their code points. UTF-16 units give the same order except for surrogates: these stand for code
 * points beyond U+FFFF, so they have to come after all other units.
 */
function compareTexts(a: string, b: string): number {
  const place = (code: number) => (code < 0xd800 ? code : code < 0xe000 ? code + 0x2000 : code - 0x800);
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return place(x) - place(y);
  }
  return a.length - b.length;
}
