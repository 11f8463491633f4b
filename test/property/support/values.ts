import type { ColumnType } from "../../../src/sqlite/column-type.js";

/**
 * A stored value: integers are bigint, reals number, JSON its text. The naive evaluators work on these and on nothing
 * that the server computes.
 */
export type Value = null | bigint | number | string | boolean | Uint8Array;

export type Row = Readonly<Record<string, Value>>;

/** Negative, zero or positive, as SQLite orders two values of one column: NULL, then numbers, text or bytes. */
export function compareStored(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === "string" || a instanceof Uint8Array) return Buffer.compare(bytesOf(a), bytesOf(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

function bytesOf(value: Value): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(String(value));
}

/** What a response shows of a value (docs/reference/schema.md). */
export function toWire(type: ColumnType, value: Value): unknown {
  if (value === null) return null;
  if (typeof value === "bigint") return isSafe(value) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return type === "json" ? JSON.parse(value as string) : value;
}

/** A value as a query string spells it. */
export function toText(value: Value): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value);
}

/** A value as a parameter of a statement. */
export function toSql(value: Value): null | bigint | number | string | Uint8Array {
  return typeof value === "boolean" ? BigInt(value) : value;
}

export function isSafe(value: bigint): boolean {
  return BigInt.asIntN(54, value) === value && value !== -(2n ** 53n);
}
