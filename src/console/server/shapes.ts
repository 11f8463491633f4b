/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** The types of columns. */
export type ColumnType = "integer" | "real" | "text" | "boolean" | "json" | "blob";

/** A column of a table. */
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

/** A rule as it is written, and where. */
export interface RuleText {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** What rules stand for. */
export type Action = "read" | "create" | "update" | "delete" | "history";

/** A table of the schema in force, as `GET /admin/api/schema` has it. */
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

/** The schema in force. */
export interface SchemaShape {
  readonly hash: string;
  readonly version: number;
  readonly text: string;
  readonly file_text: string | null;
  readonly tables: readonly TableShape[];
  readonly conditions: readonly (RuleText & { readonly name: string })[];
}

/** A user, as lists have them. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly role: "user" | "admin";
  readonly disabled: boolean;
  readonly email_verified: boolean;
  readonly created_at: string;
  readonly created_by?: string | null;
}

/** A key of the API, without its secret. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly created_by: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

/** One of the last requests that this process has answered. */
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

/** A mail, with its link where mails are not really sent. */
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

/** A session of a user that has not ended. */
export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly kind: string;
  readonly created_at: string;
  readonly last_used_at?: string | null;
  readonly expires_at: string;
}

/** What requests have cost, by a day, a table or a caller. */
export interface UsageSum {
  readonly key: string;
  readonly requests: number;
  readonly rows_read: number;
  readonly rows_written: number;
  readonly rows_returned: number;
  readonly unknown_reads: number;
}

/** A time of which receipts are missing. */
export interface UsageGap {
  readonly at: string;
  readonly reason: string;
  readonly attempts_max: number;
}

/** A step of a change of the schema, with what it would lose. */
/** What a change of the schema would do. */
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

export interface Plan {
  readonly base: string;
  readonly hash: string;
  readonly steps: readonly PlannedStep[];
}

/** An operation of the project. */
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

/** What a term of a rule comes out as. */
export interface Term {
  readonly kind: "term" | "condition";
  readonly text: string;
  /** Null where it is not in svc.toml, as for a rule that is missing. */
  readonly line: number | null;
  readonly column: number | null;
  /** In which text of svc.toml it is written: `rules.messages.update`, or `conditions.member(room)`. */
  readonly path: string;
  readonly row?: "before" | "after";
  readonly truth: boolean | null;
  readonly unfinished?: true;
  /** Of a list: of how many rows it is TRUE, FALSE and NULL. */
  readonly counts?: { readonly true: number; readonly false: number; readonly null: number };
}

/** The answer to why somebody may, or may not, do something. */
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
  /** Indexes that would help. */
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

/** A list of the server's own with its page's meta. */
export interface Listed<T> {
  readonly data: readonly T[];
  readonly meta: { readonly total: number | null; readonly next_cursor?: string };
}
