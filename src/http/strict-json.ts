import { nextTurn } from "./next-turn.js";
import { quoted } from "./query-string.js";
import { badRequest, type Refusal } from "./refusal.js";

type Parsed = { readonly value: unknown } | Refusal;

/**
 * Parses JSON (RFC 8259) and refuses what JSON.parse would silently change or drop, as I-JSON does (RFC 7493):
 * duplicate keys, lone surrogates and integers that a double cannot hold; also NUL, numbers that overflow, nesting
 * deeper than 64 and more than 200,000 values and keys. An integer beyond 2^53 passes if JSON.stringify would write it
 * with the same digits, because clients send reals such as 1e20 that way.
 */
export function parseStrictJson(text: string): Parsed {
  return plain(text) ?? new StrictJsonParser(text).advance(unbounded)!;
}

/**
 * As `parseStrictJson`, for texts that may be long: the event loop does other work after every few milliseconds of
 * parsing (docs/long-work.md#bounds-of-one-turn).
 */
export async function parseStrictJsonInTurns(text: string): Promise<Parsed> {
  const short = plain(text);
  if (short !== null) return short;
  const parser = new StrictJsonParser(text);
  for (;;) {
    const parsed = parser.advance(turn);
    if (parsed !== null) return parsed;
    await nextTurn();
  }
}

const depthMax = 64;
/** How many values and keys a text may have. The outermost value is one of them. */
const partsMax = 200_000;
/** After how many values and keys, or how many characters, a turn of the event loop ends. */
const turn = { parts: 5_000, length: 1_000_000 };
const unbounded: typeof turn = { parts: Number.POSITIVE_INFINITY, length: Number.POSITIVE_INFINITY };
/** Up to how many characters JSON.parse and JSON.stringify take well below a millisecond. */
const plainLengthMax = 16_384;

/**
 * A fast path for what most clients send: a short, flat object that JSON.stringify wrote. If JSON.stringify writes the
 * parsed value with the same text, no key was doubled and no number rounded. Null for any other text. So is one with a
 * backslash, because an escape can stand for a NUL or a lone surrogate.
 */
function plain(text: string): { readonly value: unknown } | null {
  if (text.length > plainLengthMax || !text.startsWith("{") || text.includes("\\")) return null;
  let value: object;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const isFlat = Object.values(value).every((each) => typeof each !== "object" || each === null);
  return isFlat && JSON.stringify(value) === text ? { value } : null;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const leftBracket = 0x5b;
const backslash = 0x5c;
const rightBracket = 0x5d;
const leftBrace = 0x7b;
const rightBrace = 0x7d;

/** The JSON whitespace from a place on. */
const whitespace = /[ \t\n\r]*/y;
/** A backslash, or a character below the space, which a string holds only as an escape (RFC 8259, section 7). */
const special = /[^ -[\]-\uffff]/;
const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const word = /true|false|null/y;
const words: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/** An array or object that is being read. */
interface Container {
  readonly value: unknown[] | Record<string, unknown>;
  /** The key of the member that is read; undefined in an array. */
  key: string | undefined;
}

/** A problem of the text, with the message for the client. */
class Problem {
  constructor(readonly message: string) {}
}

const malformed = new Problem("the body is not valid JSON");

/** Parses one text, in as many calls of `advance` as its caller likes. */
class StrictJsonParser {
  #at = 0;
  #parts = 0;
  readonly #open: Container[] = [];

  constructor(private readonly text: string) {}

  /** Reads about `parts` further values and keys, or `length` further characters. Null while the text has more. */
  advance({ parts, length }: typeof turn): Parsed | null {
    try {
      return this.#advance(this.#parts + parts, this.#at + length);
    } catch (error) {
      if (error instanceof Problem) return badRequest(error.message);
      throw error;
    }
  }

  #advance(parts: number, at: number): Parsed | null {
    if (this.#at === 0 && !this.text.isWellFormed()) throw new Problem("the body is not well-formed Unicode");
    while (this.#parts < parts && this.#at < at) {
      let value = this.#begin();
      if (value === undefined) continue;
      // A finished value may be the last one of its container, which is then a finished value itself.
      for (;;) {
        const container = this.#open.at(-1);
        if (container === undefined) {
          this.#skip();
          if (this.#at < this.text.length) throw malformed;
          return { value };
        }
        this.#put(container, value);
        const next = this.#next();
        const isArray = Array.isArray(container.value);
        if (next === comma) {
          if (!isArray) container.key = this.#key(container.value as Record<string, unknown>);
          break;
        }
        if (next !== (isArray ? rightBracket : rightBrace)) throw malformed;
        this.#open.pop();
        value = container.value;
      }
    }
    return null;
  }

  /** Reads a value that is no container, or an empty one; undefined where a container with content begins. */
  #begin(): unknown {
    this.#count();
    const first = this.#next();
    switch (first) {
      case leftBrace:
      case leftBracket: {
        if (this.#open.length === depthMax) throw new Problem(`the body nests deeper than ${depthMax}`);
        const container: Container = { value: first === leftBrace ? {} : [], key: undefined };
        this.#skip();
        if (this.text.charCodeAt(this.#at) === (first === leftBrace ? rightBrace : rightBracket)) {
          this.#at++;
          return container.value;
        }
        this.#open.push(container);
        if (first === leftBrace) container.key = this.#key(container.value as Record<string, unknown>);
        return undefined;
      }
      case quote:
        return this.#string();
      default:
        this.#at--;
        return this.#scalar();
    }
  }

  #key(object: Record<string, unknown>): string {
    this.#count();
    if (this.#next() !== quote) throw malformed;
    const key = this.#string();
    if (Object.hasOwn(object, key)) throw new Problem(`the body gives the key ${quoted(key)} twice`);
    if (this.#next() !== colon) throw malformed;
    return key;
  }

  #put({ value: into, key }: Container, value: unknown): void {
    if (Array.isArray(into)) into.push(value);
    // An assignment would set the object's prototype.
    else if (key === "__proto__")
      Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
    else into[key!] = value;
  }

  /** The string whose opening quote was read. */
  #string(): string {
    const begin = this.#at;
    let end = this.text.indexOf('"', begin);
    // Few strings hold an escaped quote. The others are searched by the engine, which is faster.
    if (this.text.charCodeAt(end - 1) === backslash) end = this.#endFrom(begin);
    if (end === -1) throw malformed;
    this.#at = end + 1;
    const string = this.text.slice(begin, end);
    return special.test(string) ? this.#unescaped(begin - 1) : string;
  }

  /** The place of the quote that ends a string, which is looked for from a place on; -1 if there is none. */
  #endFrom(begin: number): number {
    for (let at = begin; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === quote) return at;
      if (code === backslash) at++;
    }
    return -1;
  }

  /** The string from its opening quote to the current place, with its escapes replaced. */
  #unescaped(opening: number): string {
    let string: string;
    try {
      string = JSON.parse(this.text.slice(opening, this.#at));
    } catch {
      throw malformed;
    }
    if (string.includes("\0")) throw new Problem("the body holds a NUL character");
    if (!string.isWellFormed()) throw new Problem("the body holds a lone surrogate");
    return string;
  }

  #scalar(): unknown {
    word.lastIndex = this.#at;
    const known = word.exec(this.text)?.[0];
    if (known !== undefined) {
      this.#at = word.lastIndex;
      return words[known];
    }
    number.lastIndex = this.#at;
    const [digits, fraction, exponent] = number.exec(this.text) ?? [];
    if (digits === undefined) throw malformed;
    this.#at = number.lastIndex;
    const value = Number(digits);
    if (!Number.isFinite(value)) throw new Problem("the body holds a number that is too large");
    const isInteger = fraction === undefined && exponent === undefined;
    if (isInteger && !Number.isSafeInteger(value) && String(value) !== digits)
      throw new Problem("the body holds an integer beyond ±(2^53−1): send it as a decimal string");
    return value;
  }

  #count(): void {
    if (++this.#parts > partsMax) throw new Problem(`the body has more than ${partsMax} values and keys`);
  }

  /** The code of the next character that is no whitespace, which is passed; NaN at the end. */
  #next(): number {
    this.#skip();
    return this.text.charCodeAt(this.#at++);
  }

  #skip(): void {
    // Most texts have no whitespace between their tokens.
    if (this.text.charCodeAt(this.#at) > 0x20) return;
    whitespace.lastIndex = this.#at;
    whitespace.exec(this.text);
    this.#at = whitespace.lastIndex;
  }
}
