import type { ColumnType } from "../sqlite/column-type.js";
import type { ColumnName, TableName } from "../sqlite/names.js";
import type { ProvedSql } from "../sqlite/proof.js";

/** svc.schema.yaml as immutable values (docs/reference/schema.md). */
export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly auth: AuthSettings;
  /** `$origins` of the file: the origins that links may lead to. */
  readonly origins: readonly string[];
  /** The operations that the file declares under `$operations`, by name. */
  readonly operations: ReadonlyMap<string, NamedOperation>;
  /**
   * Only in a schema that has problems: what could not be read of its file. Nothing is to be concluded from those
   * parts.
   */
  readonly unread?: Unread;
}

/**
 * The tables of a file with problems that could not be read as a whole, by name. A table of which nothing could be
 * read is listed here and not among the schema's tables.
 */
export type Unread = ReadonlyMap<string, UnreadTable> | "everything";

/** What could not be read of one table in a file with problems. */
export interface UnreadTable {
  /**
   * The columns of the table that could not be read, perhaps none. The table's keys, uniqueness and other properties
   * are in doubt even then.
   */
  readonly columns: ReadonlySet<string> | "all";
}

/** A table of the project. Names are spelled as in the file. */
export interface Table {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, Column>;
  /** The columns of the primary key. Empty for a table without one, which only a schema pulled from a database has. */
  readonly primaryKey: readonly ColumnName[];
  /** The columns of every `unique` constraint, whether a column or the table declares it. */
  readonly unique: readonly (readonly ColumnName[])[];
  readonly indexes: readonly Index[];
  /** The columns that the table's full-text index covers, in the order that ranks what is found; empty without one. */
  readonly search: readonly ColumnName[];
  /** The triggers that the file declares for the table, by name: what follows `CREATE TRIGGER` and the name. */
  readonly triggers: ReadonlyMap<string, string>;
  /** For how many days changes of the table are kept: Infinity for ever, null where none are. */
  readonly historyDays: number | null;
  /**
   * Whether the table is STRICT. `svc schema pull` writes `strict: false` for tables of other programs that are not.
   */
  readonly strict: boolean;
  /** Whether the table is a virtual one, which another program has made (`svc schema pull`). It can only be read. */
  readonly virtual: boolean;
  readonly renamedFrom: string | null;
}

/** A column of a table. */
export interface Column {
  readonly name: ColumnName;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /**
   * The value of the column in new rows that give none, null for none. A managed column has the default that
   * `managedDefault` gives it.
   */
  readonly default: ColumnDefault | null;
  /** The condition of the column's CHECK, an SQL expression that the project's owner wrote; null for none. */
  readonly check: string | null;
  readonly references: Reference | null;
  /** What the server sets the column to by itself (docs/reference/schema.md#managed-columns); null where it does not. */
  readonly managed: Managed | null;
  readonly renamedFrom: string | null;
}

/** What the server sets a column to: when and by whom a row was created or changed last, or a number of its version. */
export type Managed = (typeof managedKinds)[number];

/** What `managed:` of a column in svc.schema.yaml may say. */
export const managedKinds = ["created_at", "updated_at", "created_by", "updated_by", "version"] as const;

/** The value of a column in new rows that do not give one. */
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

/** `$auth`: who may register, how people sign in, and the pages that mails lead to. */
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
  /** The text of the rule that says who may run the operation; null where there is none, so that no user may. */
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
  /** How many rows the step has to find or change, so that the operation goes on; null for any number. */
  readonly expect: number | null;
  /** The code of the operation's refusal where the step finds or changes another number of rows. */
  readonly otherwise: StepRefusal;
  /**
   * Whether the operation answers with the rows of this step: with one of them, or with all. Null where it does not.
   */
  readonly returns: "one" | "many" | null;
  /** The columns of the rows that the step gives to the operation's answer; empty where it gives none. */
  readonly columns: readonly ReturnedColumn[];
}

/** The codes by which an operation may be refused where a step does not do what is expected of it. */
export type StepRefusal = (typeof stepRefusals)[number];

/** The codes of refusals that `else:` of an operation's step may name. */
export const stepRefusals = ["conflict", "not_found", "forbidden", "bad_request"] as const;

/** A column of the rows that an operation answers with. */
export interface ReturnedColumn {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /** Whether the schema says that the column is never NULL. */
  readonly notNull: boolean;
  /**
   * The column's expression among the tokens of the statement: from the index `from` up to `to`, which is not included.
   */
  readonly from: number;
  readonly to: number;
}
