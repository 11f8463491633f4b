import { fromBase64 } from "../../encoding/base64.js";
import type { SqlValue } from "../../platform/database.js";
import type { Column } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { isStorableInteger } from "../../sqlite/column-type.js";

/**
 * What became of a value in a request: the value in the form for the database, or for the error message, a description
 * of what the column expects.
 */
export type ParsedValue =
  | { readonly ok: true; readonly value: SqlValue }
  | { readonly ok: false; readonly expected: string };

const accepted = (value: SqlValue): ParsedValue => ({ ok: true, value });
const refused = (expected: string): ParsedValue => ({ ok: false, expected });

const expectations: Record<ColumnType, string> = {
  integer: "an integer (beyond ±(2^53−1) as a decimal string)",
  real: "a number",
  text: "a string",
  boolean: "true or false",
  json: "a JSON value",
  blob: "a base64 string",
};

/**
 * Turns a value of a JSON body into the value for a column (`docs/reference/http.md#values`). A value of another type
 * is refused, not converted; an integer beyond ±(2^53−1) comes as a string. Null is taken for every column: whether it
 * may be NULL is not tested here. Nor need strings be tested for NUL and lone surrogates: `parseStrictJson` has refused
 * them before.
 */
export function fromJson({ type }: Pick<Column, "type">, value: unknown): ParsedValue {
  if (value === null) return accepted(null);
  return jsonReaders[type](value) ?? refused(expectations[type]);
}

const jsonReaders: Record<ColumnType, (value: unknown) => ParsedValue | null> = {
  integer: (value) => {
    if (typeof value === "number") return Number.isSafeInteger(value) ? accepted(BigInt(value)) : null;
    const integer = typeof value === "string" ? parseInteger(value) : null;
    return integer !== null && !isSafe(integer) ? accepted(integer) : null;
  },
  real: (value) => (typeof value === "number" && Number.isFinite(value) ? accepted(value) : null),
  text: (value) => (typeof value === "string" ? accepted(value) : null),
  boolean: (value) => (typeof value === "boolean" ? accepted(value ? 1n : 0n) : null),
  json: (value) => accepted(JSON.stringify(value)),
  blob: (value) => (typeof value === "string" ? bytes(value) : null),
};

/**
 * Turns a value of a query string or of a path into the value for a column. Numbers and booleans are spelled as in
 * JSON, and an integer has only one spelling: `1.0`, ` 1` and `1e0` are none. A text is taken as it is, a BLOB is in
 * base64, and a column of JSON takes no value here.
 */
export function fromText({ type }: Pick<Column, "type">, text: string): ParsedValue {
  return textReaders[type](text) ?? refused(type === "integer" ? "an integer" : expectations[type]);
}

const textReaders: Record<ColumnType, (text: string) => ParsedValue | null> = {
  integer: (text) => {
    const integer = parseInteger(text);
    return integer === null ? null : accepted(integer);
  },
  real: (text) => {
    const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text);
    return isNumber && Number.isFinite(Number(text)) ? accepted(Number(text)) : null;
  },
  text: accepted,
  boolean: (text) => (text === "true" ? accepted(1n) : text === "false" ? accepted(0n) : null),
  json: () => null,
  blob: bytes,
};

function parseInteger(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return isStorableInteger(value) ? value : null;
}

function bytes(text: string): ParsedValue | null {
  const value = fromBase64(text);
  return value === null ? null : accepted(value);
}

/** Whether an integer is within ±(2^53−1), so that a JavaScript number holds it exactly. */
export function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}
