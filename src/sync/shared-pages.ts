import type { Refusal } from "../http/refusal.js";
import { Memo, statementLengthMax } from "../platform/memo.js";
import type { Catalog } from "../schema/catalog.js";
import { sha256Hex } from "../schema/plan/plan.js";
import type { Sql } from "../tables/sql-text/fragment.js";
import type { Mark } from "./checkpoint.js";

/** A page of the changes of one member. */
export interface MemberPage {
  /** Each as JSON text `{table, op, key, row?}`. */
  readonly changes: readonly string[];
  /** How many characters these have together. */
  readonly characters: number;
  /** How many keys were examined for the page. */
  readonly examined: number;
  /** The key, as text, of the last row that was examined where more may have changed; null where nothing else has. */
  readonly after: string | null;
}

/**
 * How a look for changes ends. `gone`: the log no longer reaches back to the moment that the client has. `too many`:
 * more rows may have changed than the server looks at.
 */
export type NoPage = "gone" | "too many";

const weigh = (name: string, { text }: Sql) => name.length + text.length;
const statementsBytesMax = 4_194_304;
const hashesBytesMax = 1_048_576;
const pagesBytesMax = 8_388_608;

/**
 * What many requests for changes share: SQL statements, hashes, and the pages of streams. Streams that follow the same
 * member (`Member.text`) are sent the same pages of it, each made once, whatever else they follow. For that, all streams
 * are brought from the same moment to the same later one.
 */
export class SharedPages {
  /** The last moment that streams were brought to. */
  #moment: Mark | null = null;
  readonly #pages = new Memo<MemberPage>(pagesBytesMax, { weigh: (name, page) => name.length + page.characters });
  /** By name. */
  readonly #statements = new WeakMap<Catalog, Memo<Sql>>();
  /** Hashes by the texts that they were computed from: clients' checkpoints are compared by them. */
  readonly #hashes = new Memo<string>(hashesBytesMax, { keyLengthMax: hashesBytesMax });
  readonly #underway = new Map<string, Promise<MemberPage | Refusal | NoPage>>();

  /**
   * The moment that a stream at `from` is brought to: the last one that another stream was brought to, if it is later
   * than `from`, or else the newest one.
   */
  momentAfter(from: Mark, newest: Mark): Mark {
    const last = this.#moment;
    if (last !== null && last.seq > from.seq && last.seq <= newest.seq) return last;
    this.#moment = newest;
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

  /** The page with this name; `read` computes it where it is not kept or being computed. */
  page(name: string, read: () => Promise<MemberPage | Refusal | NoPage>): Promise<MemberPage | Refusal | NoPage> {
    const made = this.#pages.find(name);
    if (made !== undefined) return Promise.resolve(made);
    const underway = this.#underway.get(name) ?? this.#make(name, read);
    this.#underway.set(name, underway);
    return underway;
  }

  async #make(name: string, read: () => Promise<MemberPage | Refusal | NoPage>) {
    try {
      const page = await read();
      if (typeof page === "object" && "changes" in page) this.#pages.set(name, page);
      return page;
    } finally {
      this.#underway.delete(name);
    }
  }
}
