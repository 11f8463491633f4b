import { Memo } from "../platform/memo.js";
import type { OnDelete } from "../project/model.js";
import { parseTableDdl, type TableDdl } from "../sqlite/table-ddl.js";

/**
 * What the database itself says of its schema, the owner's tables and the service's own alike. Read by
 * `schema/load-physical.ts`; a plan takes it as a value.
 */
export interface Physical {
  /** By name in lower case, since SQLite compares names without it. */
  readonly tables: ReadonlyMap<string, PhysicalTable>;
  readonly views: readonly PhysicalView[];
  /** The owner's triggers: the service's own are told apart from the first (`schema/system/own-triggers.ts`). */
  readonly triggers: readonly PhysicalTrigger[];
}

/** A table as the database has it. */
export interface PhysicalTable {
  readonly name: string;
  readonly kind: "ordinary" | "virtual" | "shadow";
  readonly strict: boolean;
  readonly hasRowid: boolean;
  /** The CREATE statement as stored. */
  readonly sql: string;
  readonly columns: readonly PhysicalColumn[];
  readonly indexes: readonly PhysicalIndex[];
  readonly foreignKeys: readonly PhysicalForeignKey[];
}

/** A column as the database has it, hidden and generated ones too. */
export interface PhysicalColumn {
  readonly name: string;
  readonly declaredType: string;
  readonly notNull: boolean;
  /** The text of the default expression, without the parentheses around it. */
  readonly default: string | null;
  /** From 1; 0 outside of the primary key. */
  readonly keyPosition: number;
  readonly kind: "ordinary" | "generated" | "hidden";
}

/** An index as the database has it, those behind UNIQUE and PRIMARY KEY too. */
export interface PhysicalIndex {
  readonly name: string;
  /** `created` by CREATE INDEX; the others are part of the table's statement. */
  readonly origin: "created" | "unique" | "primary_key";
  readonly unique: boolean;
  readonly partial: boolean;
  /** Of created ones. */
  readonly sql: string | null;
  /** Key columns; an expression has no name. */
  readonly columns: readonly {
    readonly name: string | null;
    readonly descending: boolean;
    readonly collation: string;
  }[];
}

/** Whether SQLite holds the values of a column to no type: a table that is not STRICT, or ANY in one that is. */
export function isLoose({ strict }: PhysicalTable, { declaredType }: PhysicalColumn): boolean {
  return !strict || declaredType.toUpperCase() === "ANY";
}

/** A foreign key as the database has it; no `to` means the parent's primary key. */
export interface PhysicalForeignKey {
  readonly parent: string;
  readonly columns: readonly { readonly from: string; readonly to: string | null }[];
  readonly onUpdate: OnDelete;
  readonly onDelete: OnDelete;
}

/** A view, with its CREATE statement. */
export interface PhysicalView {
  readonly name: string;
  readonly sql: string;
}

/** A trigger, with its CREATE statement. */
export interface PhysicalTrigger {
  readonly name: string;
  /** The table or view whose writes fire it. */
  readonly on: string;
  readonly sql: string;
}

/** Of an empty database. */
export const emptyPhysical: Physical = { tables: new Map(), views: [], triggers: [] };

/** The table of that name, in whatever case. */
export function physicalTable(physical: Physical, name: string): PhysicalTable | undefined {
  return physical.tables.get(name.toLowerCase());
}

/** Whether SQLite takes both for the same name. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The primary key's columns in the key's order, empty without one. */
export function physicalKey(table: PhysicalTable): string[] {
  return table.columns
    .filter(({ keyPosition }) => keyPosition > 0)
    .sort((a, b) => a.keyPosition - b.keyPosition)
    .map(({ name }) => name);
}

/** The rowid under a name of SQLite's that no column has taken; null where all three are. */
export function rowidName(columns: readonly string[]): string | null {
  const taken = columns.map((name) => name.toLowerCase());
  return ["_rowid_", "rowid", "oid"].find((name) => !taken.includes(name)) ?? null;
}

/** The INTEGER PRIMARY KEY column, which is the rowid (SQLite, "ROWIDs and the INTEGER PRIMARY KEY"). */
export function rowidAlias(table: PhysicalTable): string | null {
  const key = table.columns.filter(({ keyPosition }) => keyPosition > 0);
  if (!table.hasRowid || key.length !== 1 || table.kind !== "ordinary") return null;
  const [column] = key;
  // `INTEGER PRIMARY KEY DESC` is not the rowid and has an index of its own.
  const hasOwnIndex = table.indexes.some(({ origin }) => origin === "primary_key");
  return column!.declaredType.toUpperCase() === "INTEGER" && !hasOwnIndex ? column!.name : null;
}

/** What a table's own statement says. Each text is read once: a start asks several times of each table. */
export function ddlOf({ sql }: PhysicalTable): TableDdl | null {
  return ddls.get(sql, () => parseTableDdl(sql));
}

const ddls = new Memo<TableDdl | null>(1000, 10_000);

/** Of the columns that have another than BINARY, as each was named. */
export function collationsOf(table: PhysicalTable): ReadonlyMap<string, string> {
  const ddl = ddlOf(table);
  return new Map(
    table.columns.flatMap(({ name }) => {
      const collation = ddl?.columns.get(name.toLowerCase())?.collation ?? null;
      return collation === null ? [] : [[name, collation] as const];
    }),
  );
}
