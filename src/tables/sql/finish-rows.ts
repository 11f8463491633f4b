import { hexToBase64 } from "../../encoding/base64.js";
import { nextTurn } from "../../http/next-turn.js";
import type { AtOnce } from "../../platform/at-once.js";
import { realOf, type ShownColumn } from "./wire.js";

/** How many characters are finished in one turn of the event loop, which takes a few milliseconds. */
const charactersInTurn = 1_048_576;

/**
 * Turns the JSON text of a row, of an array of rows or of rows with commas between them, which SQL has made by
 * `jsonObject`, into the form that is answered: reals in JavaScript's shortest spelling, blobs in base64. All other
 * values are copied as they are, so that numbers in JSON columns keep their digits. A long text takes several turns of
 * the event loop.
 */
export function finishRows(text: string, columns: readonly ShownColumn[]): AtOnce<string> {
  if (!columns.some(isFinished)) return text;
  const finisher = new Finisher(text, columns);
  return text.length <= charactersInTurn ? finisher.atOnce() : finisher.inTurns();
}

const isFinished = ({ type }: ShownColumn) => type === "blob" || type === "real";

/** As `finishRows`, for texts that are always short, such as the key of a row. */
export function finishKey(text: string, columns: readonly ShownColumn[]): string {
  return columns.some(isFinished) ? new Finisher(text, columns).atOnce() : text;
}

const bracket = /["{}[\]]/g;
const escapeOrEnd = /["\\]/g;
const afterScalar = /[,}\]]/g;

/** Goes through one text. It relies on how SQLite writes JSON: without whitespace around members. */
class Finisher {
  #at = 0;
  /** Up to where the text is in `#parts`. */
  #copied = 0;
  readonly #parts: string[] = [];
  /** Up to where it goes on in this turn. */
  #turnEnd = charactersInTurn;

  /** By the columns' names as JSON. */
  readonly #types: ReadonlyMap<string, ShownColumn["type"]>;

  constructor(
    private readonly text: string,
    columns: readonly ShownColumn[],
  ) {
    this.#types = new Map(columns.filter(isFinished).map(({ name, type }) => [JSON.stringify(name), type]));
  }

  atOnce(): string {
    for (const _ of this.#rows());
    return this.#result();
  }

  async inTurns(): Promise<string> {
    for (const _ of this.#rows()) await nextTurn();
    return this.#result();
  }

  #result(): string {
    this.#parts.push(this.text.slice(this.#copied));
    return this.#parts.join("");
  }

  /** Finishes all rows, and yields where a turn should end. */
  *#rows(): Generator<void> {
    for (let row = this.text.indexOf("{"); row !== -1; row = this.text.indexOf("{", this.#at)) {
      this.#at = row + 1;
      yield* this.#members();
    }
  }

  *#members(): Generator<void> {
    while (this.text[this.#at] !== "}") {
      if (this.text[this.#at] === ",") this.#at++;
      const key = this.#at;
      this.#skipString();
      const type = this.#types.get(this.text.slice(key, this.#at));
      const value = ++this.#at;
      this.#skipValue();
      if (type !== undefined) {
        this.#parts.push(this.text.slice(this.#copied, value));
        yield* this.#finish(type, value);
        this.#copied = this.#at;
      }
      yield* this.#pause();
    }
    this.#at++;
  }

  /** Adds the finished form of the value that begins at `begin` and ends at the current place. */
  *#finish(type: ShownColumn["type"], begin: number): Generator<void> {
    if (type === "blob" && this.text[begin] === '"') {
      this.#parts.push('"');
      yield* this.#base64(begin + 1, this.#at - 1);
      this.#parts.push('"');
      return;
    }
    const value = JSON.parse(this.text.slice(begin, this.#at));
    const shown = type === "real" ? realOf(value) : isPreview(value) ? finishedPreview(value) : value;
    this.#parts.push(JSON.stringify(shown));
  }

  *#base64(begin: number, end: number): Generator<void> {
    for (let at = begin; at < end; at += hexInTurn) {
      if (at > begin) yield;
      this.#parts.push(hexToBase64(this.text.slice(at, Math.min(end, at + hexInTurn))));
    }
  }

  *#pause(): Generator<void> {
    if (this.#at < this.#turnEnd) return;
    yield;
    this.#turnEnd = this.#at + charactersInTurn;
  }

  #skipValue(): void {
    switch (this.text[this.#at]) {
      case '"':
        this.#skipString();
        return;
      case "{":
      case "[":
        this.#skipNested();
        return;
      default:
        afterScalar.lastIndex = this.#at;
        this.#at = afterScalar.exec(this.text)!.index;
    }
  }

  #skipNested(): void {
    let depth = 0;
    do {
      bracket.lastIndex = this.#at;
      const { index, 0: found } = bracket.exec(this.text)!;
      this.#at = index;
      if (found === '"') this.#skipString();
      else {
        depth += found === "{" || found === "[" ? 1 : -1;
        this.#at++;
      }
    } while (depth > 0);
  }

  #skipString(): void {
    escapeOrEnd.lastIndex = this.#at + 1;
    for (;;) {
      const { index, 0: found } = escapeOrEnd.exec(this.text)!;
      if (found === '"') {
        this.#at = index + 1;
        return;
      }
      escapeOrEnd.lastIndex = index + 2;
    }
  }
}

/** How many hexadecimal digits are turned into base64 at once: a multiple of 6, which are 4 characters of base64. */
const hexInTurn = 1_048_578;

/** What stands for a long blob: its first bytes, in hexadecimal (`Cut`). */
interface Preview {
  readonly $preview: string;
}

function isPreview(value: unknown): value is Preview {
  return typeof value === "object" && value !== null && "$preview" in value;
}

const finishedPreview = (value: Preview) => ({ ...value, $preview: hexToBase64(value.$preview) });
