import type { ErrorCode } from "../http/refusal.js";

/** Why a call is allowed or refused, as `POST /admin/api/explain` answers it (docs/reference/http.md#explain). */
export interface Explanation {
  /**
   * Whether the rules let the call through; for a list or a history, whether it is answered at all. Null where that could
   * not be found out.
   */
  readonly allowed: boolean | null;
  /** The same in words. */
  readonly reason: string;
  /** What the call itself would be answered with, as far as rules decide; null where they let it through. */
  readonly refusal: { readonly status: number; readonly code: ErrorCode; readonly message: string } | null;
  /** The rule that decides; null where a key has the scope, because no rule is asked then. */
  readonly rule: ExplainedRule | null;
  readonly terms: readonly ExplainedTerm[];
  /** By column: whether the rules of the column let the caller read it in an answer, and write it. */
  readonly columns: Readonly<Record<string, { readonly read: boolean; readonly write: boolean }>>;
  /** What a write would set beside the values that were sent: managed columns, and defaults of a new row. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What may refuse a write that the rules let through. */
  readonly not_judged: readonly NotJudged[];
  /** The statement of the call, with `?` in the place of values; null where none is sent. */
  readonly sql: string | null;
  readonly plan: readonly PlanLine[];
  /** How the rows are found, in words; null where none are looked for. */
  readonly way: string | null;
  /** Indexes that would help, each by the columns that it has to begin with. */
  readonly indexes: readonly { readonly table: string; readonly columns: readonly string[] }[];
  /** How many rows were read to judge the call; null where that is not known. */
  readonly rows_read: number | null;
  /** How long the statements of the explanation took, in milliseconds. */
  readonly ms: number;
  /** Only of a list or a history. */
  readonly counts?: ExplainedCounts;
}

/** The rule that decides about a call, or the scope that a key lacks. */
export interface ExplainedRule {
  /** As the request log names it: `rules.messages.update`, or `resource:messages:read`. */
  readonly name: string;
  /** The text in svc.toml, `deny` where the file has none; null for a scope. */
  readonly text: string | null;
  /** Where the text begins in svc.toml, from 1; null where it is not there. */
  readonly line: number | null;
  readonly column: number | null;
}

/** A term of the rule, or the use of a named condition in it, which is followed by the terms of the condition. */
export interface ExplainedTerm {
  readonly kind: "term" | "condition";
  /** As it is written. */
  readonly text: string;
  /** Where that begins in svc.toml, from 1; null where it is not there. */
  readonly line: number | null;
  readonly column: number | null;
  /** In which text of svc.toml it is written: `rules.messages.update`, or `conditions.member(room)`. */
  readonly path: string;
  /** In an update rule: with which row in the place of `row`. */
  readonly row?: "before" | "after";
  /** Null for NULL. */
  readonly truth: boolean | null;
  /** The term was not evaluated: in time, or because it reads a row and there is none. */
  readonly unfinished?: true;
  /** In a list: of how many rows it is TRUE, FALSE and NULL. */
  readonly counts?: { readonly true: number; readonly false: number; readonly null: number };
}

/** A constraint or a trigger of the table, which decides by carrying the write out. */
export interface NotJudged {
  readonly kind: "not_null" | "check" | "unique" | "foreign_key" | "trigger";
  readonly columns: readonly string[];
  /** The SQL of a check or a trigger, or the table that a foreign key refers to, or is referred from. */
  readonly text: string | null;
}

/** A line of SQLite's query plan. */
export interface PlanLine {
  readonly detail: string;
  /** The index that the line uses; null for none. */
  readonly index: string | null;
}

/** What a list finds. */
export interface ExplainedCounts {
  /** How many rows, or versions of rows, match what the call asks for, whatever the rules say. */
  readonly rows: number;
  /** Whether there may be more, because the scan limit was reached. */
  readonly rows_truncated: boolean;
  /** How many of them the rules admit. */
  readonly allowed: number;
  readonly allowed_truncated: boolean;
  /** How many rows the way to them has offered to be tested; null where that is not known. */
  readonly offered: number | null;
}
