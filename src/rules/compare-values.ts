import type { Literal } from "./ast.js";

/** A value other than NULL. */
export type Value = Exclude<Literal["value"], null>;

/**
 * Negative, zero or positive, as SQLite orders two values: numbers before text, an integer against a real by its exact
 * value, text by the bytes of its UTF-8.
 */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === "string") return typeof right === "string" ? compareText(left, right) : 1;
  return typeof right === "string" ? -1 : compareNumbers(left, right);
}

type NumericValue = Exclude<Value, string>;

/** ECMAScript compares a bigint with a number exactly; a boolean counts as the 0 or 1 that it is stored as. */
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

/** Surrogates stand for code points above every other unit, though U+E000 to U+FFFF have the higher numbers. */
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
