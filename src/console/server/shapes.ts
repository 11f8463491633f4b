/** A row of a table: its values by the names of the columns. */
export type Row = Readonly<Record<string, unknown>>;

/** The type of a column, as the schema names it. */
export type ColumnType = "integer" | "real" | "text" | "boolean" | "json" | "blob";

/** A column of a table, as `GET /admin/api/schema` answers it. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly not_null: boolean;
  readonly default: { readonly sql: string } | { readonly value: unknown } | null;
  readonly check: string | null;
  readonly managed: "created_at" | "updated_at" | "created_by" | "updated_by" | "version" | null;
  readonly references: {
    readonly table: string;
    readonly column: string;
    readonly on_delete: string;
  } | null;
  readonly generated: boolean;
}

/** The text of a rule in svc.toml, and the line and column where it begins. */
export interface RuleText {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** The kinds of actions on a table, each of which has a rule of its own. */
export type Action = "read" | "create" | "update" | "delete" | "history";

/** A table of the schema in force, as `GET /admin/api/schema` answers it. */
export interface TableShape {
  readonly name: string;
  readonly kind: "table" | "virtual";
  readonly primary_key: readonly string[];
  readonly columns: readonly Column[];
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly {
    readonly columns: readonly string[];
    readonly unique: boolean;
    readonly where: string | null;
  }[];
  readonly search: readonly string[];
  readonly history: string;
  readonly triggers: readonly { readonly name: string; readonly sql: string }[];
  readonly rows_writable: boolean;
  readonly rules: Readonly<Record<Action, RuleText | null>>;
  readonly column_rules: Readonly<
    Record<string, { readonly read: RuleText | null; readonly write: RuleText | null }>
  >;
}

/** The schema in force, as `GET /admin/api/schema` answers it. `file_text` is the schema file; null for none. */
export interface SchemaShape {
  readonly hash: string;
  readonly version: number;
  readonly text: string;
  readonly file_text: string | null;
  readonly tables: readonly TableShape[];
  readonly conditions: readonly (RuleText & { readonly name: string })[];
}

/** A user, as `GET /admin/api/users` lists them. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly role: "user" | "admin";
  readonly disabled: boolean;
  readonly email_verified: boolean;
  readonly created_at: string;
  readonly created_by?: string | null;
}

/** An API key, as the server lists it: without its secret. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly created_by: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

/**
 * A request that the server has answered lately, as `GET /admin/api/requests` lists it. Only those that the same
 * process has answered are there.
 */
export interface Asked {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly principal: { readonly kind: string; readonly id: string | null } | null;
  readonly rows_read: number | null;
  readonly rows_written: number | null;
  readonly rows_returned: number | null;
  readonly rule: string | null;
}

/**
 * A mail that the server has sent or is to send. `link` is the link in the mail, which is only shown where mails are
 * not really sent, as in development.
 */
export interface Mail {
  readonly id: string;
  readonly purpose: string;
  readonly to: string;
  readonly created_at: string;
  readonly state: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly last_error?: string | null;
  readonly link?: string | null;
}

/** A session of a user that is still valid. */
export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly kind: string;
  readonly created_at: string;
  readonly last_used_at?: string | null;
  readonly expires_at: string;
}

/**
 * What the requests of a day, of a table or of a caller have cost together. `key` names the day, the table or the
 * caller.
 */
export interface UsageSum {
  readonly key: string;
  readonly requests: number;
  readonly rows_read: number;
  readonly rows_written: number;
  readonly rows_returned: number;
  readonly unknown_reads: number;
}

/** A time for which receipts (the records of what requests cost) are missing, so that the sums are too low. */
export interface UsageGap {
  readonly at: string;
  readonly reason: string;
  readonly attempts_max: number;
}

/**
 * A step by which the database gets from one schema to another. `hazards` says what the step would lose, or why it is
 * impossible.
 */
export interface PlannedStep {
  readonly kind: string;
  readonly description: string;
  readonly statements: readonly string[];
  readonly safe: boolean;
  readonly hazards: readonly {
    readonly effect: "destructive" | "impossible";
    readonly reason: string;
    readonly count: number | null;
  }[];
}

/**
 * The plan of a change of the schema: the steps from the schema in force, whose hash is `base`, to the new one, whose
 * hash is `hash`.
 */
export interface Plan {
  readonly base: string;
  readonly hash: string;
  readonly steps: readonly PlannedStep[];
}

/**
 * A named operation of the project, as `GET /admin/api/operations` lists it: its parameters, its rule `allow` and its
 * SQL.
 */
export interface OperationShape {
  readonly name: string;
  readonly params: readonly {
    readonly name: string;
    readonly type: ColumnType;
    readonly nullable: boolean;
    readonly required: boolean;
    readonly check: string | null;
  }[];
  readonly allow: string | null;
  readonly reads_only: boolean;
  readonly returns: string;
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  readonly steps: readonly string[];
  readonly problems: readonly string[];
}

/** A term of a rule, or a named condition in it, with its value for the call that is explained. */
export interface Term {
  readonly kind: "term" | "condition";
  readonly text: string;
  /**
   * The line of svc.toml in which the term begins, from 1. Null where it is not in the file, as for a rule that is
   * missing there.
   */
  readonly line: number | null;
  readonly column: number | null;
  /** The text of svc.toml in which the term is written: `rules.messages.update`, or `conditions.member(room)`. */
  readonly path: string;
  readonly row?: "before" | "after";
  readonly truth: boolean | null;
  readonly unfinished?: true;
  /** For a list: the numbers of rows for which the term is TRUE, FALSE and NULL. */
  readonly counts?: { readonly true: number; readonly false: number; readonly null: number };
}

/** Why a call is allowed or refused, as `POST /admin/api/explain` answers it. */
export interface Explanation {
  readonly allowed: boolean | null;
  readonly reason: string;
  readonly refusal: { readonly status: number; readonly code: string; readonly message: string } | null;
  readonly rule: {
    readonly name: string;
    readonly text: string | null;
    readonly line: number | null;
    readonly column: number | null;
  } | null;
  readonly terms: readonly Term[];
  readonly columns: Readonly<Record<string, { readonly read: boolean; readonly write: boolean }>>;
  readonly not_judged: readonly {
    readonly kind: string;
    readonly columns: readonly string[];
    readonly text: string | null;
  }[];
  readonly sql: string | null;
  readonly plan: readonly { readonly detail: string; readonly index: string | null }[];
  readonly way: string | null;
  /** Indexes that would help the call, each with the columns that it has to begin with. */
  readonly indexes: readonly { readonly table: string; readonly columns: readonly string[] }[];
  readonly rows_read: number | null;
  readonly ms: number;
  readonly counts?: {
    readonly rows: number;
    readonly rows_truncated: boolean;
    readonly allowed: number;
    readonly allowed_truncated: boolean;
    readonly offered: number | null;
  };
}

/**
 * A page of a list of the administration API, such as of users: its items, the total, and the cursor of the next page.
 */
export interface Listed<T> {
  readonly data: readonly T[];
  readonly meta: { readonly total: number | null; readonly next_cursor?: string };
}
