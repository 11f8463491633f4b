import type { Result, Statement } from "../platform/database.js";
import { Memo, statementLengthMax } from "../platform/memo.js";
import type { Log } from "../platform/platform.js";
import { bind, type SlotValues, type Sql } from "./sql/fragment.js";

/**
 * How a counted statement is expected to find the rows of an alias: by a seek with all of these columns, or a scan if
 * none.
 */
export interface Seek {
  readonly alias: string;
  readonly columns: readonly string[];
}

/**
 * A statement for which the number of rows that it examined follows from its result, provided that SQLite finds the
 * rows as `seeks` says. `S` is the statement with or without its values.
 */
export interface Counted<S> {
  readonly statement: S;
  /** False where the number of rows that it examines cannot be known, however SQLite finds them. */
  readonly exact: boolean;
  /**
   * The statement whose query plan is asked for: the statement itself, or for a write a SELECT that finds its rows in
   * the same way. Null where it looks no row up.
   */
  readonly asked: S | null;
  readonly seeks: readonly Seek[];
}

/** A counted statement with its values. */
export type CountedStatement = Counted<Statement>;

/** Gives a counted statement its values. `binding` is `bindSingle` for a statement that returns at most one row. */
export function bindCounted(
  counted: Counted<Sql>,
  values: readonly SlotValues[],
  binding = bind,
): CountedStatement {
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

/** The question for the query plan of a statement, which is sent along with it. */
export interface PlanQuestion {
  /** What to send after the statement: one EXPLAIN QUERY PLAN, or nothing where the answer is known already. */
  readonly statements: readonly Statement[];
  /**
   * Whether it is known how many rows the statement examined. `results` are those of the whole round trip; where a
   * question was sent, its result is the last.
   */
  readonly isExact: (results: readonly Result[]) => boolean;
}

const exactly: PlanQuestion = { statements: [], isExact: () => true };
const unknown: PlanQuestion = { statements: [], isExact: () => false };

/** For projects that do not meter requests: no plan is asked for, so no number of rows is known. */
export const noPlanChecks: Pick<PlanChecks, "questionOf"> = { questionOf: () => unknown };

const plansBytesMax = 4_194_304;
/** After how long a plan is asked for again, because new statistics may have changed it. */
const trustedMs = 60_000;

/**
 * Remembers for each statement whether SQLite finds its rows as expected. It asks once a minute, in the same round
 * trip as the statement itself. Belongs to one version of the schema (`Remembered`).
 */
export class PlanChecks {
  /** By the text of the statement. */
  readonly #plans = new Memo<KnownPlan>(plansBytesMax, { keyLengthMax: statementLengthMax });

  constructor(private readonly log: Log) {}

  /** The question to send with a statement. `nowMs` is the time in milliseconds since the epoch. */
  questionOf({ exact, asked, seeks }: CountedStatement, nowMs: number): PlanQuestion {
    if (!exact) return unknown;
    if (asked === null) return exactly;
    const { sql, params } = asked;
    const known = this.#plans.get(sql, () => ({ follows: false, seenAtMs: Number.NEGATIVE_INFINITY }));
    if (Math.abs(nowMs - known.seenAtMs) < trustedMs) return known.follows ? exactly : unknown;
    return {
      statements: [{ sql: `EXPLAIN QUERY PLAN ${sql}`, params }],
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

/** What is known of the plan that SQLite makes of a statement. */
interface KnownPlan {
  /** Whether the plan finds the rows as expected. */
  follows: boolean;
  /** When the plan was asked for last, in milliseconds since the epoch. */
  seenAtMs: number;
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
    // A plan shows the rowid as `rowid`, whatever its column is called.
    if (how.includes(" USING INTEGER PRIMARY KEY (")) return true;
    const [, terms = ""] = / \(((?:[^ ]| AND )+)\)$/.exec(how) ?? [];
    // A term is `n>?`, or `(a,b)>(?,?)` for a row value.
    const sought = terms.split(" AND ").flatMap((term) =>
      term
        .replace(/[=<>].*$/, "")
        .replace(/[()]/g, "")
        .split(","),
    );
    return expected.columns.every((column) => sought.includes(column));
  });
}
