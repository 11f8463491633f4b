import type { ColumnType } from "../sqlite/column-type.js";
import type { Column, ColumnDefault, Managed, Reference, Schema, Table } from "./model.js";
import { isWhollyRead } from "./unread.js";

/**
 * SQL for the first version of a new row: 40 random bits. So a row that is deleted and made again with the same key
 * gets another version, and a client that remembers the old one does not take the new row for it.
 */
export const firstVersion = "random() & 1099511627775";

/**
 * The default of a managed column in the database. A row that a request inserts gets its value from the server instead.
 * The default is for all other new rows, such as those that a trigger inserts, and for rows that exist when the column
 * is added; with null, the column is NULL in these.
 */
export function managedDefault(managed: Managed, type: ColumnType): ColumnDefault | null {
  switch (managed) {
    case "created_at":
    case "updated_at":
      // The form of JavaScript's toISOString(), so that the values sort by time.
      return { kind: "sql", sql: type === "text" ? "strftime('%Y-%m-%dT%H:%M:%fZ')" : "unixepoch()" };
    case "version":
      return { kind: "sql", sql: firstVersion };
    case "created_by":
    case "updated_by":
      return null;
  }
}

/** Undefined if the table has none. */
export function versionColumn({ columns }: Pick<Table, "columns">): Column | undefined {
  return [...columns.values()].find(({ managed }) => managed === "version");
}

/**
 * The reference of a column that the server sets to the id of the caller. Null for other columns, and for a reference
 * to `$users`, which holds for every caller.
 */
export function callerReference({ managed, references }: Column): Reference | null {
  const isCaller = managed === "created_by" || managed === "updated_by";
  return isCaller && references?.table !== "$users" ? references : null;
}

/** What is wrong with the managed columns of a table: for each problem the column and a message for a person. */
export function managedProblems(table: Table, schema: Schema): { column: string; message: string }[] {
  const managed = [...table.columns.values()].filter((column) => column.managed !== null);
  const versions = managed.filter((column) => column.managed === "version");
  return managed.flatMap((column) => {
    const problems = columnProblems(column, table);
    if (versions.length > 1 && versions.includes(column) && column !== versions[0])
      problems.push(`the version is ${versions[0]!.name} already: a table has one`);
    if (versions[0] === column && table.primaryKey.length === 0 && isWhollyRead(schema, table.name))
      problems.push("only a table with a primary key has versions");
    return problems.map((message) => ({ column: column.name, message: `managed: ${message}` }));
  });
}

function columnProblems({ name, managed, type, notNull }: Column, table: Table): string[] {
  if (table.virtual) return ["the columns of a virtual table cannot be managed"];
  const problems: string[] = [];
  const { types, holds } = kinds[managed!];
  if (!types.includes(type)) problems.push(`${managed} is ${holds}, not ${type}: make it ${types.join(" or ")}`);
  if (table.primaryKey.includes(name)) problems.push("the server sets no column of the primary key");
  else if (notNull && (managed === "created_by" || managed === "updated_by"))
    problems.push(
      `${managed} is NULL where a key or a caller without credentials writes: remove not_null, and let a rule ask for auth.id`,
    );
  return problems;
}

const time = { types: ["integer", "text"], holds: "a time" } as const;
const person = { types: ["text"], holds: "the id of a user" } as const;

/** What each kind of managed column holds, and the types that such a column may have. */
const kinds: Record<Managed, { readonly types: readonly ColumnType[]; readonly holds: string }> = {
  created_at: time,
  updated_at: time,
  created_by: person,
  updated_by: person,
  version: { types: ["integer"], holds: "a number" },
};
