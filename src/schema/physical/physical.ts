import { Memo } from "../../platform/memo.js";
import type { OnDelete } from "../../project/model.js";
import { parseTableDdl, type TableDdl } from "../../sqlite/table-ddl.js";

/**
 * The schema as the database itself reports it, with the owner's tables and the server's own
 * (`schema/physical/load-physical.ts`). The code that plans changes gets it as a value and does not ask the database.
 */
export interface Physical {
  /** By name in lower case, because SQLite compares names case-insensitively. */
  readonly tables: ReadonlyMap<string, PhysicalTable>;
  readonly views: readonly PhysicalView[];
  /** Without the server's own triggers (`schema/physical/own-triggers.ts`). */
  readonly triggers: readonly PhysicalTrigger[];
}

/** A table as the database has it. */
export interface PhysicalTable {
  readonly name: string;
  readonly kind: "ordinary" | "virtual" | "shadow";
  readonly strict: boolean;
  readonly hasRowid: boolean;
  /** The CREATE statement as the database stores it. */
  readonly sql: string;
  readonly columns: readonly PhysicalColumn[];
  readonly indexes: readonly PhysicalIndex[];
  readonly foreignKeys: readonly PhysicalForeignKey[];
}

/** Hidden and generated columns are included. */
export interface PhysicalColumn {
  readonly name: string;
  readonly declaredType: string;
  readonly notNull: boolean;
  /** Without the parentheses around it. */
  readonly default: string | null;
  /** From 1; 0 for a column that is not in the primary key. */
  readonly keyPosition: number;
  readonly kind: "ordinary" | "generated" | "hidden";
}

/** The indexes that SQLite makes for UNIQUE and PRIMARY KEY are included. */
export interface PhysicalIndex {
  readonly name: string;
  /** What made the index: CREATE INDEX (`created`), or a clause in the statement that created the table. */
  readonly origin: "created" | "unique" | "primary_key";
  readonly unique: boolean;
  readonly partial: boolean;
  /** The CREATE INDEX statement; null for an index that the table's own statement makes. */
  readonly sql: string | null;
  /** In order. The name is null for an indexed expression. */
  readonly columns: readonly {
    readonly name: string | null;
    readonly descending: boolean;
    readonly collation: string;
  }[];
}

/** Whether the column may hold values of any type: its table is not STRICT, or it is declared ANY in a STRICT table. */
export function isLoose({ strict }: PhysicalTable, { declaredType }: PhysicalColumn): boolean {
  return !strict || declaredType.toUpperCase() === "ANY";
}

/** A column's `to` is null if the key refers to the parent's primary key without naming its columns. */
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
  /** The table or view whose writes fire the trigger. */
  readonly on: string;
  readonly sql: string;
}

/** The schema of an empty database. */
export const emptyPhysical: Physical = { tables: new Map(), views: [], triggers: [] };

/** Whatever the name's case. */
export function physicalTable(physical: Physical, name: string): PhysicalTable | undefined {
  return physical.tables.get(name.toLowerCase());
}

/** Whether SQLite treats two names as the same, whatever their case. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** In the order of the key; empty for none. */
export function physicalKey(table: PhysicalTable): string[] {
  return table.columns
    .filter(({ keyPosition }) => keyPosition > 0)
    .sort((a, b) => a.keyPosition - b.keyPosition)
    .map(({ name }) => name);
}

/** The first of SQLite's three names for the rowid that no column has; null if columns have all three. */
export function rowidName(columns: readonly string[]): string | null {
  const taken = columns.map((name) => name.toLowerCase());
  return ["_rowid_", "rowid", "oid"].find((name) => !taken.includes(name)) ?? null;
}

/** The INTEGER PRIMARY KEY column, which is the rowid (SQLite, "ROWIDs and the INTEGER PRIMARY KEY"); null for none. */
export function rowidAlias(table: PhysicalTable): string | null {
  const key = table.columns.filter(({ keyPosition }) => keyPosition > 0);
  if (!table.hasRowid || key.length !== 1 || table.kind !== "ordinary") return null;
  const [column] = key;
  // A column declared `INTEGER PRIMARY KEY DESC` is not the rowid: SQLite makes an index for it.
  const hasOwnIndex = table.indexes.some(({ origin }) => origin === "primary_key");
  return column!.declaredType.toUpperCase() === "INTEGER" && !hasOwnIndex ? column!.name : null;
}

/**
 * The parsed CREATE statement; null if it cannot be read. The result is remembered, because the server asks for the
 * same table several times when it starts.
 */
export function ddlOf({ sql }: PhysicalTable): TableDdl | null {
  return ddls.get(sql, () => parseTableDdl(sql));
}

const ddls = new Memo<TableDdl | null>(2_097_152);

/** By column name. Columns with the default collation, BINARY, are left out. */
export function collationsOf(table: PhysicalTable): ReadonlyMap<string, string> {
  const ddl = ddlOf(table);
  return new Map(
    table.columns.flatMap(({ name }) => {
      const collation = ddl?.columns.get(name.toLowerCase())?.collation ?? null;
      return collation === null ? [] : [[name, collation] as const];
    }),
  );
}
