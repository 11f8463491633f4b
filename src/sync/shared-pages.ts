import type { Refusal } from "../http/refusal.js";
import { Memo, statementLengthMax } from "../platform/memo.js";
import type { Catalog } from "../schema/catalog.js";
import { sha256Hex } from "../schema/plan/plan.js";
import type { Sql } from "../tables/sql-text/fragment.js";
import type { Mark } from "./checkpoint.js";

/** The changes of one page, and where the next page begins. */
export interface ChangesPage {
  /** Each as JSON text `{table, op, key, row?}`. */
  readonly changes: readonly string[];
  /** The index of the table that the next page begins with. */
  readonly table: number;
  /** The key, as text, of the last row that was examined in this table; null for none. */
  readonly after: string | null;
}

/**
 * How a look for changes ends. `gone`: the log no longer reaches back to the moment that the client has. `too many`:
 * more rows may have changed than the server looks at.
 */
export type ChangesPageOutcome = ChangesPage | Refusal | "gone" | "too many";

const weigh = (name: string, { text }: Sql) => name.length + text.length;
const momentsBytesMax = 262_144;
const statementsBytesMax = 4_194_304;
const hashesBytesMax = 1_048_576;
const pagesBytesMax = 8_388_608;

/**
 * What many requests for changes share: SQL statements, hashes, and the pages of streams. Streams with the same view
 * are sent the same pages, each made once. For that, all of them are brought from the same moment to the same later
 * one. A view is named by a text that contains everything its pages depend on, except for the log.
 */
export class SharedPages {
  /** By view, the last moment that streams were brought to. */
  readonly #moments = new Memo<Mark>(momentsBytesMax);
  readonly #pages = new Memo<ChangesPage>(pagesBytesMax, {
    weigh: (key, { changes }) => changes.reduce((sum, { length }) => sum + length, key.length),
  });
  /** By name. */
  readonly #statements = new WeakMap<Catalog, Memo<Sql>>();
  /** Hashes by the texts that they were computed from: clients' checkpoints are compared by them. */
  readonly #hashes = new Memo<string>(hashesBytesMax, { keyLengthMax: hashesBytesMax });
  readonly #underway = new Map<string, Promise<ChangesPageOutcome>>();

  /**
   * The moment that a stream at `from` is brought to: the last one that other streams with the same view were brought
   * to, if it is later than `from`, or else the newest one.
   */
  momentAfter(view: string, from: Mark, newest: Mark): Mark {
    const last = this.#moments.find(view);
    if (last !== undefined && last.seq > from.seq && last.seq <= newest.seq) return last;
    this.#moments.set(view, newest);
    return newest;
  }

  /** The SQL statement with this name. The values of its parameters are bound for each caller. */
  statement(catalog: Catalog, name: string, make: () => Sql): Sql {
    const known = this.#statements.get(catalog);
    const statements = known ?? new Memo<Sql>(statementsBytesMax, { weigh, keyLengthMax: statementLengthMax });
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

  /** The page of changes with this name; `read` computes it where it is not kept or being computed. */
  page(name: string, read: () => Promise<ChangesPageOutcome>): Promise<ChangesPageOutcome> {
    const made = this.#pages.find(name);
    if (made !== undefined) return Promise.resolve(made);
    const underway = this.#underway.get(name) ?? this.#make(name, read);
    this.#underway.set(name, underway);
    return underway;
  }

  async #make(name: string, read: () => Promise<ChangesPageOutcome>): Promise<ChangesPageOutcome> {
    try {
      const page = await read();
      if (typeof page === "object" && "changes" in page) this.#pages.set(name, page);
      return page;
    } finally {
      this.#underway.delete(name);
    }
  }
}
