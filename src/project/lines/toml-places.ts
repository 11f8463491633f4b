/**
 * Where each key, table and element of a TOML text is: offsets by dotted path. For a text that a TOML parser has taken,
 * since smol-toml gives no positions.
 */
export function tomlPlaces(text: string): ReadonlyMap<string, number> {
  return new Scanner(text).document();
}

const blank = /(?:[ \t\r\n]+|#[^\n]*)*/y;
const spaces = /[ \t]*/y;
const bareKey = /[A-Za-z0-9_-]+/y;
/** The long quotes first. Up to two more may stand before the closing ones. */
const quoted =
  /"""(?:\\[\s\S]|(?!""")[^\\])*"""(?:"{0,2})|'''[\s\S]*?'''(?:'{0,2})|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/y;
/** Numbers, dates, true and false. */
const plain = /[^,\]}#\n]+/y;

class Scanner {
  readonly #places = new Map<string, number>();
  /** Tables that only stand in another's name, such as `auth` of `[auth.throttle]`. A header of their own is better. */
  readonly #implied = new Set<string>();
  readonly #elements = new Map<string, number>();
  #offset = 0;

  constructor(private readonly text: string) {}

  document(): ReadonlyMap<string, number> {
    let table = "";
    for (this.#take(blank); this.#offset < this.text.length; this.#take(blank)) {
      const before = this.#offset;
      if (this.text[before] === "[") table = this.#header();
      else this.#pair(table);
      // Whatever this does not understand is no reason to stay in it.
      if (this.#offset === before) this.#offset += 1;
    }
    return this.#places;
  }

  /** `[a.b."c"]` or `[[a]]`; gives the path that the keys below begin with. */
  #header(): string {
    const at = this.#offset;
    const isElement = this.text.startsWith("[[", at);
    this.#offset += isElement ? 2 : 1;
    const path = this.#key("", at);
    this.#offset += isElement ? 2 : 1;
    if (!isElement) return path;
    const index = this.#elements.get(path) ?? 0;
    this.#elements.set(path, index + 1);
    this.#found(`${path}.${index}`, at);
    return `${path}.${index}`;
  }

  #pair(table: string): void {
    const path = this.#key(table, this.#offset);
    if (this.text[this.#offset] !== "=") return;
    this.#offset += 1;
    this.#take(spaces);
    this.#value(path);
  }

  /** A dotted key as a path within `table`, every step of it placed at `at`. */
  #key(table: string, at: number): string {
    let path = table;
    do {
      if (this.text[this.#offset] === ".") this.#offset += 1;
      this.#take(spaces);
      if (path !== table) this.#implied.add(path);
      const step = this.#take(quoted);
      path = joined(path, step === "" ? this.#take(bareKey) : unquoted(step));
      this.#take(spaces);
      if (!this.#places.has(path)) this.#places.set(path, at);
    } while (this.text[this.#offset] === ".");
    this.#found(path, at);
    return path;
  }

  #value(path: string): void {
    const first = this.text[this.#offset];
    if (first === "[") this.#items("]", (index) => this.#element(`${path}.${index}`));
    else if (first === "{") this.#items("}", () => this.#pair(path));
    else if (this.#take(quoted) === "") this.#take(plain);
  }

  #element(path: string): void {
    this.#found(path, this.#offset);
    this.#value(path);
  }

  #items(end: string, read: (index: number) => void): void {
    this.#offset += 1;
    for (let index = 0; this.#offset < this.text.length; index += 1) {
      this.#take(blank);
      if (this.text[this.#offset] === end) break;
      const before = this.#offset;
      read(index);
      this.#take(blank);
      if (this.text[this.#offset] === "," || this.#offset === before) this.#offset += 1;
    }
    this.#offset += 1;
  }

  #found(path: string, offset: number): void {
    if (this.#places.has(path) && !this.#implied.delete(path)) return;
    this.#places.set(path, offset);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#offset;
    const taken = pattern.exec(this.text)?.[0] ?? "";
    this.#offset += taken.length;
    return taken;
  }
}

function joined(path: string, step: string): string {
  return path === "" ? step : `${path}.${step}`;
}

function unquoted(step: string): string {
  if (step.startsWith("'")) return step.slice(1, -1);
  try {
    return JSON.parse(step) as string;
  } catch {
    // An escape that TOML has and JSON has not.
    return step.slice(1, -1);
  }
}
