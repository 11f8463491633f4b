import {
  count,
  flag,
  list,
  mark,
  milliseconds,
  nullOr,
  object,
  oneOf,
  recordOf,
  text,
  type WireSchema,
} from "./schema.js";

/** Why a call is allowed or refused, as `POST /admin/api/explain` answers it (docs/reference/http.md#explain). */
export interface Explanation {
  /**
   * Whether the rules allow the call and, unless it is a create, a row has its key; for a list or history, whether it
   * is answered at all. Null if that could not be found out.
   */
  readonly allowed: boolean | null;
  /** Whether the call is allowed and why, in words. */
  readonly reason: string;
  /** The error that would answer the call, as far as rules decide; null if `allowed` is true or null. */
  readonly refusal: { readonly status: number; readonly code: string; readonly message: string } | null;
  /** The rule that decides; null if an API key has the scope, because no rule is asked then. */
  readonly rule: ExplainedRule | null;
  readonly terms: readonly ExplainedTerm[];
  /** For each column whether its rules, or an API key's scopes, let the caller read it in an answer and write it. */
  readonly columns: Readonly<Record<string, { readonly read: boolean; readonly write: boolean }>>;
  /** What a write would set besides the values that it sends: managed columns, and the defaults of a new row. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Constraints and triggers that may still refuse a write which the rules allow. */
  readonly not_judged: readonly NotJudged[];
  /** The call's SQL statement, with `?` in the place of values; null if none is sent. */
  readonly sql: string | null;
  readonly plan: readonly PlanLine[];
  /** How the rows are found, in words; null if none are looked for, or a list was not read in time. */
  readonly way: string | null;
  /** Indexes that would help the call. Each is given by its table and the columns with which it has to begin. */
  readonly indexes: readonly { readonly table: string; readonly columns: readonly string[] }[];
  /** How many rows were read to decide about the call; null if that is not known. */
  readonly rows_read: number | null;
  /** How long the explanation took, in milliseconds. */
  readonly ms: number;
  /** Only for a list or a history. Missing if the call is refused or the rows were not counted in time. */
  readonly counts?: ExplainedCounts;
}

/** The rule that decides about a call, or the scope that a key lacks. */
export interface ExplainedRule {
  /** The name in the request log: `rules.messages.update`, or `resource:messages:read`. */
  readonly name: string;
  /** The rule's text in svc.toml, `deny` where the file has none; null for a scope. */
  readonly text: string | null;
  /** The line of svc.toml in which the rule's text begins, from 1; null if it is not there. */
  readonly line: number | null;
  readonly column: number | null;
}

/** A term of the rule, or its use of a named condition, whose own terms come after it in `terms`. */
export interface ExplainedTerm {
  readonly kind: "term" | "condition";
  /** The term's text as it is written in svc.toml. */
  readonly text: string;
  /** The line of svc.toml in which the term begins, from 1; null if it is not there. */
  readonly line: number | null;
  readonly column: number | null;
  /** The rule or named condition that contains the term: `rules.messages.update`, or `conditions.member(room)`. */
  readonly path: string;
  /** Only for a term of an update rule: as which row the term reads `row`. */
  readonly row?: "before" | "after";
  /** Null for SQL's NULL, and if `unfinished` or `counts` tells that there is no single value. */
  readonly truth: boolean | null;
  /**
   * Not evaluated: because time was up, because the database does not accept a statement with the term, or because it
   * reads a row and there is none, as in a history of all rows.
   */
  readonly unfinished?: true;
  /** Only for a term of a list's rule that reads the row: how many rows have each value. Missing if not counted. */
  readonly counts?: { readonly true: number; readonly false: number; readonly null: number };
}

/** A constraint or trigger that may still refuse the write, because it decides only when the write is carried out. */
export interface NotJudged {
  readonly kind: "not_null" | "check" | "unique" | "foreign_key" | "trigger";
  readonly columns: readonly string[];
  /**
   * The SQL of a check or a trigger; the condition of a partial unique index; the table that a foreign key of one
   * column refers to; for a delete, the column that may refer to the row, as `table.column`. Null for all else.
   */
  readonly text: string | null;
}

/** A line of SQLite's query plan. */
export interface PlanLine {
  readonly detail: string;
  /** The index that the line of the plan uses, or `PRIMARY KEY` or `INTEGER PRIMARY KEY`; null for none. */
  readonly index: string | null;
}

/** How many rows or versions match what a list or a history asks for, and how many of them the caller sees. */
export interface ExplainedCounts {
  /** How many rows, or versions of rows, match what the call asks for, whatever the rules say. */
  readonly rows: number;
  /** Whether there may be more rows than `rows`, because counting ended at a limit. */
  readonly rows_truncated: boolean;
  /** How many rows, or versions of rows, match and are admitted by the rules, as far as was counted. */
  readonly allowed: number;
  readonly allowed_truncated: boolean;
  /** How many rows the rule has tested: those that the index or another way has found. Null if unknown. */
  readonly offered: number | null;
}

const place = { line: nullOr(count), column: nullOr(count) };

const term: WireSchema<ExplainedTerm> = object(
  {
    kind: oneOf("term", "condition"),
    text,
    ...place,
    path: text,
    row: oneOf("before", "after"),
    truth: nullOr(flag),
    unfinished: mark,
    counts: object({ true: count, false: count, null: count }),
  },
  "row",
  "unfinished",
  "counts",
);

const notJudged: WireSchema<NotJudged> = object({
  kind: oneOf("not_null", "check", "unique", "foreign_key", "trigger"),
  columns: list(text),
  text: nullOr(text),
});

/** The schema of an explanation. */
export const explanation: WireSchema<Explanation> = object(
  {
    allowed: nullOr(flag),
    reason: text,
    refusal: nullOr(object({ status: count, code: text, message: text })),
    rule: nullOr(object({ name: text, text: nullOr(text), ...place })),
    terms: list(term),
    columns: recordOf(object({ read: flag, write: flag })),
    values: recordOf<unknown>({}),
    not_judged: list(notJudged),
    sql: nullOr(text),
    plan: list(object({ detail: text, index: nullOr(text) })),
    way: nullOr(text),
    indexes: list(object({ table: text, columns: list(text) })),
    rows_read: nullOr(count),
    ms: milliseconds,
    counts: object({
      rows: count,
      rows_truncated: flag,
      allowed: count,
      allowed_truncated: flag,
      offered: nullOr(count),
    }),
  },
  "counts",
);
