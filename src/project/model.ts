import type { ColumnType } from "../sqlite/column-type.js";
import type { ColumnName, TableName } from "../sqlite/names.js";
import type { ProvedSql } from "../sqlite/proof.js";

/** svc.schema.yaml as immutable values (docs/reference/schema.md). */
export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly auth: AuthSettings;
  /** `$origins`: origins that links may lead to. */
  readonly origins: readonly string[];
  /** `$operations`, by name. */
  readonly operations: ReadonlyMap<string, NamedOperation>;
  /**
   * What could not be read of the file, only for a schema that has problems. Nothing is to be concluded from those
   * parts.
   */
  readonly unread?: Unread;
}

/**
 * The tables of a file with problems that could not be read as a whole, by name. A table of which nothing could be
 * read is listed here and not among the schema's tables.
 */
export type Unread = ReadonlyMap<string, UnreadTable> | "everything";

/** What could not be read of one table. */
export interface UnreadTable {
  /**
   * The columns that could not be read, perhaps none. The table's keys, uniqueness and other properties are in doubt
   * even then.
   */
  readonly columns: ReadonlySet<string> | "all";
}

/** A table of the project. Names are spelled as in the file. */
export interface Table {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, Column>;
  /** Empty for a table without a primary key, which only a pulled schema has. */
  readonly primaryKey: readonly ColumnName[];
  /** The columns of every `unique`, whether a column or the table declares it. */
  readonly unique: readonly (readonly ColumnName[])[];
  readonly indexes: readonly Index[];
  /** The columns that the table's full-text index covers, in the order that ranks what is found; empty without one. */
  readonly search: readonly ColumnName[];
  /** The triggers of the table: what follows `CREATE TRIGGER` and the name, by the name. */
  readonly triggers: ReadonlyMap<string, string>;
  /** For how many days changes of the table are kept: Infinity for ever, null where none are. */
  readonly historyDays: number | null;
  /**
   * Whether the table is STRICT. `svc schema pull` writes `strict: false` for tables of other programs that are not.
   */
  readonly strict: boolean;
  /** Whether it is a virtual table, which another program has made (`svc schema pull`). It can only be read. */
  readonly virtual: boolean;
  readonly renamedFrom: string | null;
}

/** A column of a table. */
export interface Column {
  readonly name: ColumnName;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /** Of a managed column, the default that it has in the database by itself (`managedDefault`). */
  readonly default: ColumnDefault | null;
  /** An SQL expression that the project's owner wrote. */
  readonly check: string | null;
  readonly references: Reference | null;
  /** What the server sets the column to by itself (docs/reference/schema.md#managed-columns); null where it does not. */
  readonly managed: Managed | null;
  readonly renamedFrom: string | null;
}

/** What the server sets a column to: when and by whom a row was created or changed last, or a number of its version. */
export type Managed = (typeof managedKinds)[number];

/** What `managed:` of a column may say. */
export const managedKinds = ["created_at", "updated_at", "created_by", "updated_by", "version"] as const;

/** The value of a column in new rows that do not give one. */
export type ColumnDefault =
  | { readonly kind: "literal"; readonly value: string | number | bigint | boolean }
  | { readonly kind: "sql"; readonly sql: string };

/** A foreign key of one column. */
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
  /** The text of the rule that says who may run it; null where there is none, so that no user may. */
  readonly allow: string | null;
  readonly steps: readonly OperationStep[];
  /** Only in a schema that has problems: the names of parameters that could not be read. */
  readonly unreadParams?: ReadonlySet<string>;
}

/** A parameter of an operation. */
export interface OperationParam {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /** The text of a condition on the parameters, in the language of rules; null for none. */
  readonly check: string | null;
  /** The value where a caller gives none; undefined where a caller has to give one. */
  readonly default: string | number | bigint | boolean | null | undefined;
  readonly nullable: boolean;
}

/** A step of an operation: one statement of SQL. */
export interface OperationStep {
  readonly statement: ProvedSql;
  /** How many rows it has to find or change, so that the operation goes on; null for any number. */
  readonly expect: number | null;
  /** The code of the refusal where it finds or changes another number. */
  readonly otherwise: StepRefusal;
  /** Which of its rows the operation answers with; null for none. */
  readonly returns: "one" | "many" | null;
  /** The columns of the rows that it answers with; empty where it answers with none. */
  readonly columns: readonly ReturnedColumn[];
}

/** The codes by which an operation may be refused where a step does not do what is expected of it. */
export type StepRefusal = (typeof stepRefusals)[number];

/** The codes that `else:` of a step may name. */
export const stepRefusals = ["conflict", "not_found", "forbidden", "bad_request"] as const;

/** A column of the rows that an operation answers with. */
export interface ReturnedColumn {
  readonly name: ColumnName;
  readonly type: ColumnType;
  /** Whether the schema says that it is never NULL. */
  readonly notNull: boolean;
  /** The tokens of its expression in the statement: from the first one to the one before the last number. */
  readonly from: number;
  readonly to: number;
}
