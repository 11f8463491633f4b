import type { Result, Statement } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import type { Log } from "../platform/platform.js";
import { bind, type SlotValues, type Sql } from "./sql/fragment.js";

/** How a counted statement finds the rows of an alias: all of these columns are part of the seek; none: it scans. */
export interface Seek {
  readonly alias: string;
  readonly columns: readonly string[];
}

/** A statement whose visits are counted by what it finds, as long as SQLite seeks as it is expected to. */
export interface Counted<S> {
  readonly statement: S;
  /** Whether the number of rows that it examines is known. */
  readonly exact: boolean;
  /**
   * What is asked for its plan: the statement, or for a write the reading that finds its rows the same way. Null where there
   * is nothing to find.
   */
  readonly asked: S | null;
  readonly seeks: readonly Seek[];
}

export type CountedStatement = Counted<Statement>;

/** `binding` is `bindSingle` for what returns at most one row. */
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

/** What is asked of SQLite along with a statement, and what follows from the answer. */
export interface PlanQuestion {
  /** Sent behind the statement: one, or none where its plan is known already or there is nothing to find. */
  readonly statements: readonly Statement[];
  /** Whether it is known how many rows the statement examined. `results` end with that of the question, if there was one. */
  isExact(results: readonly Result[]): boolean;
}

const exactly: PlanQuestion = { statements: [], isExact: () => true };
const unknown: PlanQuestion = { statements: [], isExact: () => false };

/** Where nothing is metered, nothing is asked, and nothing is known. */
export const noPlanChecks: Pick<PlanChecks, "questionOf"> = { questionOf: () => unknown };

const plansMax = 2_000;
const planTextMax = 100_000;
/** After which a plan is looked at again, as statistics may have changed it. A new schema begins with no plans at all. */
const trustedMs = 60_000;

/** The plans that SQLite makes of statements, looked at once in a while along with the statement itself. */
export class PlanChecks {
  /** By the statement's text. */
  readonly #plans = new Memo<KnownPlan>(plansMax, planTextMax);

  constructor(private readonly log: Log) {}

  /** `nowMs` says how old what is known is, in milliseconds since the epoch. */
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

/** A plan that SQLite made. */
interface KnownPlan {
  /** Whether it goes by the expected way. */
  follows: boolean;
  /** When it was looked at last, in milliseconds since the epoch. */
  seenAtMs: number;
}

/** `details` are the lines of EXPLAIN QUERY PLAN, such as `SEARCH _t USING INDEX by_n (n>?)`. */
export function followsPlan(details: readonly string[], seeks: readonly Seek[]): boolean {
  return details.every((detail) => {
    const [, kind, alias, how = ""] = /^(SCAN|SEARCH) (\S+)(.*)$/.exec(detail) ?? [];
    const expected = seeks.find((seek) => seek.alias === alias);
    if (expected === undefined) return true;
    if (/ AUTOMATIC |ANY\(/.test(how)) return false;
    if (expected.columns.length === 0) return true;
    if (kind !== "SEARCH") return false;
    // The rowid goes by another name than its column.
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
