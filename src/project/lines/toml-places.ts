import { parse } from "smol-toml";
import type { SourcePlace } from "./place.js";

/**
 * Finds where the parts of a TOML text begin, because the parser smol-toml gives no positions. The text has to be one
 * that smol-toml accepts. Each key, table and element of a list is a part.
 */
export function tomlPlaces(text: string): TomlPlace {
  return new Scanner(text).document();
}

/** A key's value, a table or an element of a list in a TOML text. */
export class TomlPlace implements SourcePlace {
  /** Where the value begins and ends in the text, its quotes included; null if it is no string. */
  string: { readonly from: number; readonly to: number } | null = null;
  readonly #parts = new Map<string, TomlPlace>();
  #elements = 0;
  #isNamed = false;

  constructor(public offset: number) {}

  part(step: string): TomlPlace | undefined {
    return this.#parts.get(step);
  }

  /**
   * Returns the part called `step`, and makes it with this offset if there is none. The offset may be preliminary: a
   * table such as `auth` may first occur in the header `[auth.throttle]`. If the part is then written by itself,
   * `named` sets the final offset.
   */
  madePart(step: string, offset: number): TomlPlace {
    const part = this.#parts.get(step) ?? new TomlPlace(offset);
    this.#parts.set(step, part);
    return part;
  }

  named(offset: number): TomlPlace {
    if (!this.#isNamed) this.offset = offset;
    this.#isNamed = true;
    return this;
  }

  nextElement(offset: number): TomlPlace {
    this.#elements += 1;
    return this.madePart(String(this.#elements - 1), offset).named(offset);
  }
}

// Each pattern of this scanner repeats a single class of characters. A repeated alternative such as `(a|b)*` would take
// stack for every round, which a long file could use up.
const whitespace = /[ \t\r\n]+/y;
const comment = /#[^\n]*/y;
const spaces = /[ \t]*/y;
const bareKey = /[A-Za-z0-9_-]+/y;
const openingQuotes = /"""|'''|"|'/y;
const moreQuotes = /["']{0,2}/y;
/** A value that has neither quotes nor brackets: a number, a date, true or false. */
const plain = /[^,\]}#\n]+/y;

class Scanner {
  readonly #root = new TomlPlace(0);
  #offset = 0;

  constructor(private readonly text: string) {}

  document(): TomlPlace {
    let table = this.#root;
    if (this.text.startsWith("\ufeff")) this.#offset = 1;
    for (this.#blank(); this.#offset < this.text.length; this.#blank()) {
      const before = this.#offset;
      if (this.text[before] === "[") table = this.#header();
      else this.#pair(table);
      // Skips a character that this scanner does not understand, so that the loop ends.
      if (this.#offset === before) this.#offset += 1;
    }
    return this.#root;
  }

  /** Reads a header, `[a.b."c"]` or `[[a]]`, and returns the table that the keys below it belong to. */
  #header(): TomlPlace {
    const at = this.#offset;
    const isElement = this.text.startsWith("[[", at);
    this.#offset += isElement ? 2 : 1;
    const table = this.#key(this.#root, at);
    this.#offset += isElement ? 2 : 1;
    return isElement ? table.nextElement(at) : table;
  }

  #pair(table: TomlPlace): void {
    const place = this.#key(table, this.#offset);
    if (this.text[this.#offset] !== "=") return;
    this.#offset += 1;
    this.#take(spaces);
    this.#value(place);
  }

  /**
   * Reads a dotted key such as `a.b.c` within `table`, and returns the part for its last step. Parts that are made for
   * its steps get the offset `at`, where the key begins.
   */
  #key(table: TomlPlace, at: number): TomlPlace {
    let place = table;
    do {
      if (this.text[this.#offset] === ".") this.#offset += 1;
      this.#take(spaces);
      const quoted = this.#quoted();
      place = place.madePart(quoted === "" ? this.#take(bareKey) : unquoted(quoted), at);
      this.#take(spaces);
    } while (this.text[this.#offset] === ".");
    return place.named(at);
  }

  #value(place: TomlPlace): void {
    const from = this.#offset;
    const first = this.text[from];
    if (first === "[") this.#items("]", () => this.#value(place.nextElement(this.#offset)));
    else if (first === "{") this.#items("}", () => this.#pair(place));
    else if (this.#quoted() === "") this.#take(plain);
    else place.string = { from, to: this.#offset };
  }

  #items(end: string, read: () => void): void {
    this.#offset += 1;
    while (this.#offset < this.text.length) {
      this.#blank();
      if (this.text[this.#offset] === end) break;
      const before = this.#offset;
      read();
      this.#blank();
      if (this.text[this.#offset] === "," || this.#offset === before) this.#offset += 1;
    }
    this.#offset += 1;
  }

  #blank(): void {
    while (this.#take(whitespace) !== "" || this.#take(comment) !== "");
  }

  /** Reads a string with its quotes. Empty if no string begins at the current offset. */
  #quoted(): string {
    const from = this.#offset;
    const quotes = this.#take(openingQuotes);
    if (quotes === "") return "";
    let end = this.text.indexOf(quotes, this.#offset);
    if (quotes[0] === '"') while (end !== -1 && this.#isEscaped(end)) end = this.text.indexOf(quotes, end + 1);
    this.#offset = end === -1 ? this.text.length : end + quotes.length;
    // A string in triple quotes may end with up to two quotes of its own in front of the closing ones.
    if (quotes.length === 3) this.#take(moreQuotes);
    return this.text.slice(from, this.#offset);
  }

  #isEscaped(at: number): boolean {
    let before = at;
    while (this.text[before - 1] === "\\") before -= 1;
    return (at - before) % 2 === 1;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#offset;
    const taken = pattern.exec(this.text)?.[0] ?? "";
    this.#offset += taken.length;
    return taken;
  }
}

function unquoted(step: string): string {
  return parse(`key = ${step}`).key as string;
}
