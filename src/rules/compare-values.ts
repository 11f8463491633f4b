import type { Literal } from "./ast.js";

/** A constant that is not NULL. */
export type Constant = Exclude<Literal["value"], null>;

/**
 * Compares two values in SQLite's order; negative, zero or positive as in `Array.sort`. Numbers come before text, an
 * integer and a real are compared by their exact values, and text is ordered by the bytes of its UTF-8.
 */
export function compareValues(left: Constant, right: Constant): number {
  if (typeof left === "string") return typeof right === "string" ? compareText(left, right) : 1;
  return typeof right === "string" ? -1 : compareNumbers(left, right);
}

type NumericValue = Exclude<Constant, string>;

/**
 * JavaScript's `<` and `>` compare a bigint with a number exactly, and take a boolean as 0 or 1, which is what the
 * database stores for it.
 */
function compareNumbers(left: NumericValue, right: NumericValue): number {
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

function compareText(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = utf8Rank(left.charCodeAt(index)) - utf8Rank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/**
 * Orders UTF-16 code units as the bytes of their UTF-8. Surrogates rank highest: they stand for code points above
 * U+FFFF, although the units U+E000 to U+FFFF are higher numbers.
 */
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
