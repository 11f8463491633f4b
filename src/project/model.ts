import type { ColumnType } from "../sqlite/column-type.js";
import type { ColumnName, TableName } from "../sqlite/names.js";

/** svc.schema.yaml as immutable values (docs/reference/schema.md). */
export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly auth: AuthSettings;
  /** `$origins`: origins that links may lead to. */
  readonly origins: readonly string[];
  /** Only of a schema that has problems: nothing may be said of what hangs on this. */
  readonly unread?: Unread;
}

/**
 * What a schema with problems has beside what could be read of it, by the tables that have some. A table of which nothing
 * could be read is in it alone.
 */
export type Unread = ReadonlyMap<string, UnreadTable> | "everything";

/** What could not be read of one table. */
export interface UnreadTable {
  /** The columns that could not be read. Keys, uniqueness and limits of the table are in doubt in any case. */
  readonly columns: readonly string[] | "all";
}

/** A table of the project. Names are as the file has them. */
export interface Table {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, Column>;
  /** Empty for a table without one, which only a pulled schema has. */
  readonly primaryKey: readonly ColumnName[];
  /** Column-level and table-level `unique` alike. */
  readonly unique: readonly (readonly ColumnName[])[];
  readonly indexes: readonly Index[];
  /** False only for pulled tables. */
  readonly strict: boolean;
  /** A pulled virtual table: read-only. */
  readonly virtual: boolean;
  readonly renamedFrom: string | null;
}

/** A column of a table. */
export interface Column {
  readonly name: ColumnName;
  readonly type: ColumnType;
  readonly notNull: boolean;
  readonly default: ColumnDefault | null;
  /** A SQL expression of the owner's. */
  readonly check: string | null;
  readonly references: Reference | null;
  readonly renamedFrom: string | null;
}

/** What new rows have that do not say it. */
export type ColumnDefault =
  | { readonly kind: "literal"; readonly value: string | number | bigint | boolean }
  | { readonly kind: "sql"; readonly sql: string };

/** A foreign key of one column. */
export interface Reference {
  /** A table of the project, or `$users`. */
  readonly table: TableName | "$users";
  /** For `$users` always `id`. */
  readonly column: ColumnName;
  readonly onDelete: OnDelete;
}

/** What becomes of a row when the one that it refers to is deleted. */
export type OnDelete = "no_action" | "restrict" | "cascade" | "set_null" | "set_default";

/** An index beside those of the key and of `unique`. */
export interface Index {
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  /** A partial index's SQL condition. */
  readonly where: string | null;
}

/** A column of an index, in its direction. */
export interface IndexColumn {
  readonly name: ColumnName;
  /** Written `-name` in the file. */
  readonly descending: boolean;
}

/** `$auth`: who may register, how people sign in, and the pages that mails lead to. */
export interface AuthSettings {
  readonly registration: "public" | "invite" | "closed";
  readonly emailVerification: { readonly required: boolean; readonly url: string };
  readonly invitationUrl: string;
  readonly passwordResetUrl: string;
  readonly providers: readonly ("google" | "apple" | "github")[];
  readonly redirectUrls: readonly string[];
}
