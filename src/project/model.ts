import type { ColumnType } from "../sqlite/column-type.js";
import type { ColumnName, TableName } from "../sqlite/names.js";
import type { ProvedSql } from "../sqlite/proof.js";

/** What svc.schema.yaml says, as immutable values (docs/reference/schema.md). */
export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly auth: AuthSettings;
  /**
   * `$origins` of the file: origins to which `redirect_to` of an invitation may lead, beside that of
   * `$auth.invitation_url`.
   */
  readonly origins: readonly string[];
  /** The operations that the file declares under `$operations`, by name. */
  readonly operations: ReadonlyMap<string, NamedOperation>;
  /**
   * Only in a schema whose file has problems: which parts of the file could not be read. Checks must not conclude
   * anything from the absence of those parts, such as that a table does not exist.
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
   * The names of the columns that could not be read, perhaps none; `all` where nothing of the table could be read. Even
   * if there are none, the table's keys, uniqueness and other properties are in doubt.
   */
  readonly columns: ReadonlySet<string> | "all";
}

/** A table that svc.schema.yaml declares. Names are spelled as in the file. */
export interface Table {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, Column>;
  /** The columns of the primary key. Empty for a table without one, which only a schema pulled from a database has. */
  readonly primaryKey: readonly ColumnName[];
  /** The `unique` constraints, each as the list of its columns, whether a column or the table declares it. */
  readonly unique: readonly (readonly ColumnName[])[];
  readonly indexes: readonly Index[];
  /**
   * The columns that the table's full-text index covers; empty without an index. Their order matters in a search
   * without `sort`: rows with all words in the first column come first, then those with all words in the second, and so
   * on; last come rows whose words are spread over several columns.
   */
  readonly search: readonly ColumnName[];
  /**
   * The triggers that the file declares for the table, by name. A value is the SQL that follows `CREATE TRIGGER` and
   * the name.
   */
  readonly triggers: ReadonlyMap<string, string>;
  /** For how many days the log of changes keeps changes of the table: Infinity for ever, null where it keeps none. */
  readonly historyDays: number | null;
  /**
   * Whether the table is STRICT, in SQLite's sense. `svc schema pull` writes `strict: false` into the file for tables
   * of an existing database that are not STRICT.
   */
  readonly strict: boolean;
  /**
   * Whether the table is a virtual one of SQLite, which another program has made and `svc schema pull` has found. It
   * can only be read.
   */
  readonly virtual: boolean;
  readonly renamedFrom: string | null;
}

/** A column of a table. */
export interface Column {
  readonly name: ColumnName;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /**
   * The value that the column gets in new rows that give none; null where there is no default. For a managed column it
   * is the default that `managedDefault` returns.
   */
  readonly default: ColumnDefault | null;
  /** The condition of the column's CHECK, an SQL expression that the project's owner wrote; null for none. */
  readonly check: string | null;
  readonly references: Reference | null;
  /** What the server sets the column to by itself (docs/reference/schema.md#managed-columns); null where it does not. */
  readonly managed: Managed | null;
  readonly renamedFrom: string | null;
}

/**
 * A kind of value that the server sets a column to by itself: the time or the user of a row's creation or last change,
 * or the row's version.
 */
export type Managed = (typeof managedKinds)[number];

/** The values that `managed:` of a column may have in svc.schema.yaml. */
export const managedKinds = ["created_at", "updated_at", "created_by", "updated_by", "version"] as const;

/** The value that a column gets in new rows that do not give one: a literal, or an SQL expression. */
export type ColumnDefault =
  | { readonly kind: "literal"; readonly value: string | number | bigint | boolean }
  | { readonly kind: "sql"; readonly sql: string };

/** A foreign key of one column, as `references:` declares it. */
export interface Reference {
  /** The table that is referred to: one of the project, or `$users`. */
  readonly table: TableName | "$users";
  /** The column that is referred to; for `$users` always `id`. */
  readonly column: ColumnName;
  readonly onDelete: OnDelete;
}

/** What happens to a row when the row that it refers to is deleted. */
export type OnDelete = "no_action" | "restrict" | "cascade" | "set_null" | "set_default";

/** An index other than those of the primary key and of `unique`. */
export interface Index {
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  /** The SQL condition of a partial index; null for an index over all rows. */
  readonly where: string | null;
}

/** A column of an index, in its direction. */
export interface IndexColumn {
  readonly name: ColumnName;
  /** Whether the order is descending, written `-name` in the file. */
  readonly descending: boolean;
}

/**
 * What `$auth` of svc.schema.yaml says: who may register, how people sign in, and the pages that links in mails lead
 * to.
 */
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
   * The text of the rule that says which users and anonymous callers may run the operation under /ops. Null where the
   * file has none: then none of them may. API keys with the scope for it may whatever the rule says, and administrators
   * under /admin/api/operations.
   */
  readonly allow: string | null;
  readonly steps: readonly OperationStep[];
  /** Only in a schema that has problems: the names of the operation's parameters that could not be read. */
  readonly unreadParams?: ReadonlySet<string>;
}

/** A parameter of an operation. */
export interface OperationParam {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /**
   * The text of a condition that the parameter has to meet, in the language of rules, which may name the other
   * parameters too; null for none.
   */
  readonly check: string | null;
  /** The parameter's value where a caller gives none; undefined where a caller has to give one. */
  readonly default: string | number | bigint | boolean | null | undefined;
  readonly nullable: boolean;
}

/** A step of an operation: one statement of SQL. */
export interface OperationStep {
  readonly statement: ProvedSql;
  /**
   * How many rows the step has to find (a SELECT) or change. With any other number the whole operation is refused. Null
   * where every number is right.
   */
  readonly expect: number | null;
  /**
   * The code with which the operation is refused where the step does not find or change as many rows as `expect` says.
   */
  readonly otherwise: StepRefusal;
  /**
   * Whether the operation answers with the rows of this step: `one` row, or `many`, all of them. Null where the rows
   * are not part of the answer.
   */
  readonly returns: "one" | "many" | null;
  /**
   * The columns of this step's rows that the operation answers with; empty where the rows are not part of the answer.
   */
  readonly columns: readonly ReturnedColumn[];
}

/** A code with which an operation is refused because a step has not found or changed as many rows as it should. */
export type StepRefusal = (typeof stepRefusals)[number];

/** The values that `else:` of an operation's step may have in svc.schema.yaml: codes of refusals. */
export const stepRefusals = ["conflict", "not_found", "forbidden", "bad_request"] as const;

/** A column of the rows that an operation answers with. */
export interface ReturnedColumn {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /** Whether the column is never NULL: the schema says so of the table's column, and no outer join can make it NULL. */
  readonly notNull: boolean;
  /**
   * Where the column's expression stands among the tokens of the step's statement: from the index `from` up to the
   * index `to`, which is not included.
   */
  readonly from: number;
  readonly to: number;
}
