import { quoted } from "../../http/query-string.js";
import { isRefusal } from "../../http/refusal.js";
import { parseStrictJson } from "../../http/strict-json.js";
import type { Column } from "../../project/model.js";
import { fromJson, fromText, type ParsedValue } from "../access/values.js";

/**
 * A value in a list request: text of a query string, or a value of a JSON body. The parsers of lists read both through
 * this interface, so that both are checked in the same way. A method returns null where the value is not of the wanted
 * kind; where a column does not take a value, `ParsedValue` says what it expects.
 */
export interface RequestValue {
  /** Reads what was sent as a value of a column. */
  value(column: Column): ParsedValue;
  /** The list of values of a column, for `in`. */
  values(column: Column): ValueList | null;
  /** Reads an integer from 0 to 2^53−1; null for any other. */
  count(): number | null;
  flag(): boolean | null;
  text(): string | null;
  /** Reads a list of the names of columns, each perhaps with a minus before it. */
  names(): readonly string[] | null;
  /** The value that was sent, as text for the message of a refusal. */
  shown(): string;
}

/** A list of values, which are read one by one only when its length is known to be allowed. */
export interface ValueList {
  readonly length: number;
  read(): readonly ParsedValue[];
}

function listOf<T>(items: readonly T[], read: (item: T) => ParsedValue): ValueList {
  return { length: items.length, read: () => items.map(read) };
}

/** The text of a parameter in a query string, to be read through `RequestValue`. */
export class QueryValue implements RequestValue {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(column: Column): ParsedValue {
    return fromText(column, this.#text);
  }

  /** Reads the values of an `in` filter, which have commas between them, or are a JSON array. */
  values(column: Column): ValueList | null {
    if (!this.#text.startsWith("[")) return listOf(this.names(), (item) => fromText(column, item));
    const parsed = parseStrictJson(this.#text);
    if (isRefusal(parsed) || !Array.isArray(parsed.value)) return null;
    return listOf<unknown>(parsed.value, (item) =>
      typeof item === "string" ? fromText(column, item) : fromJson(column, item),
    );
  }

  count(): number | null {
    const count = /^(0|[1-9]\d{0,15})$/.test(this.#text) ? Number(this.#text) : null;
    return Number.isSafeInteger(count) ? count : null;
  }

  flag(): boolean | null {
    return this.#text === "true" || this.#text === "false" ? this.#text === "true" : null;
  }

  text(): string {
    return this.#text;
  }

  names(): readonly string[] {
    return this.#text.split(",");
  }

  shown(): string {
    return quoted(this.#text);
  }
}

/** A value of a JSON body of a list, which `parseStrictJson` has parsed, to be read through `RequestValue`. */
export class BodyValue implements RequestValue {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  value(column: Column): ParsedValue {
    return fromJson(column, this.#value);
  }

  values(column: Column): ValueList | null {
    return Array.isArray(this.#value) ? listOf<unknown>(this.#value, (item) => fromJson(column, item)) : null;
  }

  count(): number | null {
    return Number.isSafeInteger(this.#value) && (this.#value as number) >= 0 ? (this.#value as number) : null;
  }

  flag(): boolean | null {
    return typeof this.#value === "boolean" ? this.#value : null;
  }

  text(): string | null {
    return typeof this.#value === "string" ? this.#value : null;
  }

  names(): readonly string[] | null {
    const isNames = Array.isArray(this.#value) && this.#value.every((item) => typeof item === "string");
    return isNames ? (this.#value as readonly string[]) : null;
  }

  shown(): string {
    const text = JSON.stringify(this.#value);
    return text.length > 80 ? `${text.slice(0, 80)}…` : text;
  }
}
