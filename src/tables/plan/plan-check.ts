import type { Result, Statement } from "../../platform/database.js";
import { Memo, statementLengthMax } from "../../platform/memo.js";
import type { Log } from "../../platform/platform.js";
import { bind, type SlotValues, type Sql } from "../sql-text/fragment.js";

/**
 * How SQLite is expected to find the rows of one table, which a statement calls `alias`: by a search that compares all
 * of `columns`. Where `columns` is empty, any search or scan will do, except by an index that SQLite makes for the
 * statement alone.
 */
export interface Seek {
  readonly alias: string;
  readonly columns: readonly string[];
}

/**
 * A statement for which the number of examined rows follows from its result, provided that SQLite finds the rows as
 * `seeks` says. `S` is the type of the statement: SQL with placeholders, or a statement with its values.
 */
export interface Counted<S> {
  readonly statement: S;
  /** False where the number of rows that the statement examines cannot be known, however SQLite finds them. */
  readonly exact: boolean;
  /**
   * The statement whose query plan tells whether SQLite finds the rows as expected: the statement itself, or for a
   * write a SELECT that finds its rows in the same way. Null for a write whose rule has no `exists`: it is taken to
   * find its rows as expected, and no plan is asked for.
   */
  readonly asked: S | null;
  readonly seeks: readonly Seek[];
}

/** A statement with its values, for which the number of rows that it examined follows from its result. */
export type CountedStatement = Counted<Statement>;

/** Binds a counted statement and the one whose plan is checked, by `bindSingle` for at most one row. */
export function bindCounted(counted: Counted<Sql>, values: readonly SlotValues[], binding = bind): CountedStatement {
  const { statement, asked } = counted;
  const bound = binding(statement, values);
  const { exact, seeks } = counted;
  return {
    statement: bound,
    asked: asked === statement ? bound : asked && bind(asked, values),
    exact,
    seeks,
  };
}

/** A question about SQLite's query plan of a statement, sent in the same round trip as the statement. */
export interface PlanQuestion {
  /** What to send after the statement: an EXPLAIN QUERY PLAN, or nothing where that would not help. */
  readonly statements: readonly Statement[];
  /**
   * Whether it is known how many rows the statement has examined. `results` are those of the whole round trip; where a
   * question was sent, its result is the last.
   */
  readonly isExact: (results: readonly Result[]) => boolean;
}

const exactly: PlanQuestion = { statements: [], isExact: () => true };
const unknown: PlanQuestion = { statements: [], isExact: () => false };

/** For projects without metering: no plan is asked for, and the number of examined rows is unknown. */
export const noPlanChecks: Pick<PlanChecks, "questionOf"> = { questionOf: () => unknown };

const plansBytesMax = 4_194_304;
/** After how many milliseconds a query plan is asked for again, because new statistics may have changed it. */
const trustedMs = 60_000;

/**
 * Remembers for each statement whether SQLite finds its rows as expected. An answer that is older than a minute is
 * asked for again, in the same round trip as the statement itself. Belongs to one version of the schema (`Remembered`).
 */
export class PlanChecks {
  /** Whether plans find rows as expected, and when they were asked for last, by the text of the statement. */
  readonly #plans = new Memo<{ follows: boolean; seenAtMs: number }>(plansBytesMax, {
    keyLengthMax: statementLengthMax,
  });

  constructor(private readonly log: Log) {}

  /** The question about the query plan to send with a statement. */
  questionOf({ exact, asked, seeks }: CountedStatement, nowMs: number): PlanQuestion {
    if (!exact) return unknown;
    if (asked === null) return exactly;
    const { sql } = asked;
    const known = this.#plans.get(sql, () => ({ follows: false, seenAtMs: Number.NEGATIVE_INFINITY }));
    if (Math.abs(nowMs - known.seenAtMs) < trustedMs) return known.follows ? exactly : unknown;
    return {
      statements: [planQuestion(asked)],
      isExact: (results) => {
        const details = results.at(-1)!.rows.map((row) => String(row[3]));
        known.follows = followsPlan(details, seeks);
        known.seenAtMs = nowMs;
        if (!known.follows) this.log.warn(`rows read are unknown where SQLite goes another way: ${sql}`);
        return known.follows;
      },
    };
  }
}

/** The statement that asks for SQLite's query plan of another one, which it does not run. */
export function planQuestion({ sql, params }: Statement): Statement {
  return { sql: `EXPLAIN QUERY PLAN ${sql}`, params };
}

/**
 * Whether a query plan finds rows as expected. `details` are the lines of EXPLAIN QUERY PLAN, such as
 * `SEARCH _t USING INDEX by_n (n>?)`. Lines about aliases that are not in `seeks` do not matter.
 */
export function followsPlan(details: readonly string[], seeks: readonly Seek[]): boolean {
  return details.every((detail) => {
    const [, kind, alias, how = ""] = /^(SCAN|SEARCH) (\S+)(.*)$/.exec(detail) ?? [];
    const expected = seeks.find((seek) => seek.alias === alias);
    if (expected === undefined) return true;
    if (/ AUTOMATIC |ANY\(/.test(how)) return false;
    if (expected.columns.length === 0) return true;
    if (kind !== "SEARCH") return false;
    // A search by the rowid counts as expected. Its column cannot be compared, because a plan shows the rowid as
    // `rowid`, whatever its column is called.
    if (how.includes(" USING INTEGER PRIMARY KEY (")) return true;
    const [, terms = ""] = / \(((?:[^ ]| AND )+)\)$/.exec(how) ?? [];
    // A term in the parentheses of a plan's line is `n>?`, or `(a,b)>(?,?)` for a row value.
    const sought = terms.split(" AND ").flatMap((term) =>
      term
        .replace(/[=<>].*$/, "")
        .replace(/[()]/g, "")
        .split(","),
    );
    return expected.columns.every((column) => sought.includes(column));
  });
}
