import type { Refusal } from "../http/refusal.js";
import { Memo, statementLengthMax } from "../platform/memo.js";
import type { Catalog } from "../schema/catalog.js";
import { sha256Hex } from "../schema/plan/plan.js";
import type { Sql } from "../tables/sql/fragment.js";
import type { Mark } from "./checkpoint.js";

/** The changes that a page tells, and where the next page begins. */
export interface Told {
  /** The changes, each as JSON text `{table, op, key, row?}`. */
  readonly changes: readonly string[];
  /** Which table the next page begins with, counted from 0. */
  readonly table: number;
  /** The text of the key that was examined last in the table `table`; null where none was. */
  readonly after: string | null;
}

/**
 * What looking for changes ends with. `gone`: the log does not reach back to the moment that the client has;
 * `too many`: more rows may be concerned than are looked at.
 */
export type Telling = Told | Refusal | "gone" | "too many";

const weigh = (name: string, { text }: Sql) => name.length + text.length;
const momentsBytesMax = 262_144;
const statementsBytesMax = 4_194_304;
const hashesBytesMax = 1_048_576;
const pagesBytesMax = 8_388_608;

/**
 * What many requests for changes have in common: statements, the hashes of their views (which rows they follow), and
 * the pages of streams. Streams of the same view are told the same pages, each of which is made once; for that they are
 * brought from the same moments to the same moments. A view is named by a text that holds all that its pages hang on
 * but the log.
 */
export class SharedPages {
  /** For each view the moment to which its streams were brought last. */
  readonly #moments = new Memo<Mark>(momentsBytesMax);
  readonly #pages = new Memo<Told>(pagesBytesMax, {
    weigh: (key, { changes }) => changes.reduce((sum, { length }) => sum + length, key.length),
  });
  /** Statements by name, for each catalog (what is known of the database's tables). */
  readonly #statements = new WeakMap<Catalog, Memo<Sql>>();
  /** Hashes by the texts that they are of. Checkpoints are compared by them. */
  readonly #hashes = new Memo<string>(hashesBytesMax, { keyLengthMax: hashesBytesMax });
  readonly #underway = new Map<string, Promise<Telling>>();

  /**
   * The moment to which a stream is brought from `from`: the one to which other streams of the same view were brought
   * last, if that is later than `from`, or else the newest.
   */
  momentAfter(view: string, from: Mark, newest: Mark): Mark {
    const last = this.#moments.find(view);
    if (last !== undefined && last.seq > from.seq && last.seq <= newest.seq) return last;
    this.#moments.set(view, newest);
    return newest;
  }

  /** The statement of this name, which `make` makes if nobody has. Its values are filled in for each caller. */
  statement(catalog: Catalog, name: string, make: () => Sql): Sql {
    const known = this.#statements.get(catalog);
    const statements =
      known ?? new Memo<Sql>(statementsBytesMax, { weigh, keyLengthMax: statementLengthMax });
    if (known === undefined) this.#statements.set(catalog, statements);
    return statements.get(name, make);
  }

  /** The SHA-256 of a text, in hex. */
  async hashOf(text: string): Promise<string> {
    const known = this.#hashes.find(text);
    if (known !== undefined) return known;
    const hash = await sha256Hex(text);
    this.#hashes.set(text, hash);
    return hash;
  }

  /** The page of changes with this name, which `tell` makes if nobody has. */
  page(name: string, tell: () => Promise<Telling>): Promise<Telling> {
    const made = this.#pages.find(name);
    if (made !== undefined) return Promise.resolve(made);
    const underway = this.#underway.get(name) ?? this.#make(name, tell);
    this.#underway.set(name, underway);
    return underway;
  }

  async #make(name: string, tell: () => Promise<Telling>): Promise<Telling> {
    try {
      const told = await tell();
      if (typeof told === "object" && "changes" in told) this.#pages.set(name, told);
      return told;
    } finally {
      this.#underway.delete(name);
    }
  }
}
