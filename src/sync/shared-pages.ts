import type { Refusal } from "../http/refusal.js";
import { Memo } from "../platform/memo.js";
import type { Mark } from "./checkpoint.js";

/** What a page tells, and where the next one begins. */
export interface Told {
  /** JSON texts of `{table, op, key, row?}`. */
  readonly changes: readonly string[];
  /** The table that is told next, counted from 0. */
  readonly table: number;
  /** The text of the key that was examined last in this table; null where none was. */
  readonly after: string | null;
}

/** `gone`: the log does not reach back to the beginning any more; `too many`: more rows may be concerned than are looked at. */
export type Telling = Told | Refusal | "gone" | "too many";

const momentsBytesMax = 262_144;
const pagesBytesMax = 8_388_608;

/**
 * The pages that streams of the same view are told, so that each of them is made once. A view is named by a text that
 * holds all that the pages hang on but the log. For that, streams are brought from the same moments to the same moments.
 */
export class SharedPages {
  /** The moment that streams of a view were brought to last. */
  readonly #moments = new Memo<Mark>(momentsBytesMax);
  readonly #pages = new Memo<Told>(pagesBytesMax, {
    weigh: (key, { changes }) => changes.reduce((sum, { length }) => sum + length, key.length),
  });
  readonly #underway = new Map<string, Promise<Telling>>();

  /** The moment to which a stream is brought from `from`: where the others of its view are, if that is later, or else the newest. */
  momentAfter(view: string, from: Mark, newest: Mark): Mark {
    const last = this.#moments.find(view);
    if (last !== undefined && last.seq > from.seq && last.seq <= newest.seq) return last;
    this.#moments.set(view, newest);
    return newest;
  }

  /** The page of this name, which `tell` makes if nobody has. */
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
