import type { ColumnType } from "../sqlite/column-type.js";
import type { ColumnName, TableName } from "../sqlite/names.js";
import type { ProvedSql } from "../sqlite/proof.js";

/** What svc.schema.yaml says (docs/reference/schema.md). */
export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly auth: AuthSettings;
  /** Origins to which `redirect_to` of an invitation may lead, besides that of `$auth.invitation_url`. */
  readonly origins: readonly string[];
  /** The operations under `$operations`, by name. */
  readonly operations: ReadonlyMap<string, NamedOperation>;
  /**
   * Only in a schema whose file has problems: what could not be read. Checks must not conclude anything from its
   * absence, such as that a table does not exist.
   */
  readonly unread?: Unread;
}

/**
 * What could not be read of a schema file with problems: the tables that have problems, by name, or everything. A table
 * of which nothing at all could be read is listed here and is not among the schema's tables.
 */
export type Unread = ReadonlyMap<string, UnreadTable> | "everything";

/** A table of a schema file with problems that could not be read, or not as a whole. */
export interface UnreadTable {
  /**
   * The columns that could not be read, perhaps none; `all` if nothing of the table could be read. Even if there are
   * none, the table's keys, uniqueness and other properties are in doubt.
   */
  readonly columns: ReadonlySet<string> | "all";
}

/** Names are spelled as in the file. */
export interface Table {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, Column>;
  /** Empty for a table without a primary key, which only a schema pulled from a database has. */
  readonly primaryKey: readonly ColumnName[];
  /** The `unique` constraints, whether a column or the table declares them. */
  readonly unique: readonly (readonly ColumnName[])[];
  readonly indexes: readonly Index[];
  /**
   * The columns of the table's full-text index; empty without one. Their order matters in a search without `sort`: rows
   * with all words in the first column come first, then those with all words in the second, and so on; last come rows
   * whose words are spread over several columns.
   */
  readonly search: readonly ColumnName[];
  readonly searchTokenizer: SearchTokenizer;
  /** By name, the SQL that follows `CREATE TRIGGER` and the name. */
  readonly triggers: ReadonlyMap<string, string>;
  /** For how many days the log of changes keeps changes of the table: Infinity for ever, null for no log. */
  readonly historyDays: number | null;
  /** In SQLite's sense. `svc schema pull` writes `strict: false` for tables that are not STRICT. */
  readonly strict: boolean;
  /**
   * Whether the table is a virtual one of SQLite, which another program has made and `svc schema pull` has found. It
   * can only be read.
   */
  readonly virtual: boolean;
  readonly renamedFrom: string | null;
}

/**
 * What the full-text index of a table finds: whole words, and the beginnings of words (`unicode61`), or any text of
 * three characters or more (`trigram`), as languages need that put no spaces between words.
 */
export type SearchTokenizer = (typeof searchTokenizers)[number];

/** The values of `search.tokenize` in svc.schema.yaml; the first one is the default. */
export const searchTokenizers = ["unicode61", "trigram"] as const;

/** A column of a table. */
export interface Column {
  readonly name: ColumnName;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /** The value in new rows that give none. For a managed column it is what `managedDefault` returns. */
  readonly default: ColumnDefault | null;
  /** The SQL expression of the column's CHECK. */
  readonly check: string | null;
  readonly references: Reference | null;
  /** What the server sets the column to by itself (docs/reference/schema.md#managed-columns). */
  readonly managed: Managed | null;
  readonly renamedFrom: string | null;
}

/** A kind of managed column: the time or the user of a row's creation or last change, or the row's version. */
export type Managed = (typeof managedKinds)[number];

/** The values of `managed:` in svc.schema.yaml. */
export const managedKinds = ["created_at", "updated_at", "created_by", "updated_by", "version"] as const;

/** The value that a column gets in new rows that do not give one: a literal, or an SQL expression. */
export type ColumnDefault =
  | { readonly kind: "literal"; readonly value: string | number | bigint | boolean }
  | { readonly kind: "sql"; readonly sql: string };

/** A foreign key of one column, as `references:` declares it. */
export interface Reference {
  readonly table: TableName | "$users";
  /** For `$users` always `id`. */
  readonly column: ColumnName;
  readonly onDelete: OnDelete;
}

/** What happens to a row when the row that it refers to is deleted. */
export type OnDelete = "no_action" | "restrict" | "cascade" | "set_null" | "set_default";

/** An index other than those of the primary key and of `unique`. */
export interface Index {
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  /** The SQL condition of a partial index. */
  readonly where: string | null;
}

/** A column of an index. */
export interface IndexColumn {
  readonly name: ColumnName;
  /** Written `-name` in the file. */
  readonly descending: boolean;
}

/** `$auth` of svc.schema.yaml: who may register, how people sign in, and the pages that links in mails lead to. */
export interface AuthSettings {
  readonly registration: "public" | "invite" | "closed";
  readonly emailVerification: { readonly required: boolean; readonly url: string };
  readonly invitationUrl: string;
  readonly passwordResetUrl: string;
  readonly emailChangeUrl: string;
  readonly providers: readonly ("google" | "apple" | "github")[];
  readonly redirectUrls: readonly string[];
}

/** An operation of `$operations`: named steps that callers run as one transaction (docs/reference/operations.md). */
export interface NamedOperation {
  readonly name: string;
  readonly params: ReadonlyMap<string, OperationParam>;
  /**
   * The text of the rule that says which users and anonymous callers may run the operation under /ops; null: none of
   * them. API keys with the scope for it may whatever the rule says, and administrators under /admin/api/operations.
   */
  readonly allow: string | null;
  readonly steps: readonly OperationStep[];
  /** Only in a schema that has problems: the parameters that could not be read. */
  readonly unreadParams?: ReadonlySet<string>;
}

/** A parameter of an operation. */
export interface OperationParam {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /**
   * The text of a condition that the parameter has to meet, in the language of rules. It may name the other parameters
   * too.
   */
  readonly check: string | null;
  /** Undefined if a caller has to give a value. */
  readonly default: string | number | bigint | boolean | null | undefined;
  readonly nullable: boolean;
}

/** A step of an operation: one statement of SQL. */
export interface OperationStep {
  readonly statement: ProvedSql;
  /**
   * How many rows the step has to find (a SELECT) or change; with any other number the whole operation is refused. Null
   * if every number is right.
   */
  readonly expect: number | null;
  /** The code of the refusal by `expect`, and its message; null for the server's own. */
  readonly otherwise: StepRefusal;
  readonly message: string | null;
  /** Whether the operation answers with `one` row of this step, or with all (`many`). Null for none. */
  readonly returns: "one" | "many" | null;
  /** The columns in the answer; empty for a step whose rows are not part of it. */
  readonly columns: readonly ReturnedColumn[];
}

/** A code with which an operation is refused because a step has not found or changed as many rows as it should. */
export type StepRefusal = (typeof stepRefusals)[number];

/** The values of `else:` of an operation's step. */
export const stepRefusals = ["conflict", "not_found", "forbidden", "bad_request"] as const;

/** A column of the rows that an operation answers with. */
export interface ReturnedColumn {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /** Whether the schema says that the column is NOT NULL, and no outer join can make it NULL. */
  readonly notNull: boolean;
  /**
   * Where the column's expression stands among the tokens of the statement: from the index `from` to the one before
   * `to`.
   */
  readonly from: number;
  readonly to: number;
}
