import type { Table } from "../../project/model.js";
import type { TableName } from "../../sqlite/names.js";
import { mentions, quoteName, quoteText } from "../../sqlite/sql-tokens.js";
import { parseTableDdl } from "../../sqlite/table-ddl.js";
import {
  type Physical,
  type PhysicalColumn,
  type PhysicalTable,
  type PhysicalTrigger,
  type PhysicalView,
  rowidAlias,
  rowidName,
  sameName,
} from "../physical.js";
import {
  createTable,
  dropTable,
  dropTrigger,
  dropView,
  inlineKey,
  type Keepsakes,
  renameTable,
} from "./ddl.js";
import { valueAfter } from "./images.js";
import type { TableChange } from "./table-change.js";

/**
 * SQLite, "Making Other Kinds Of Table Schema Changes": a new table under another name takes the rows and then the
 * name. Foreign keys of other tables go by the name and are none the wiser. Triggers, views and indexes that the
 * table had, or that speak of it, are written again as they were.
 */
export function rebuildStatements(change: TableChange, physical: Physical): string[] {
  const { current, target } = change;
  const kept = keepsakes(change);
  const temporary = `_rebuild_${current.name}`;
  const beside = bystanders(physical, [current.name]);
  return [
    ...dropBystanders(beside, [change.physical]),
    createTable(withOwnReferences(target, temporary), kept, temporary),
    copyRows(change, kept, temporary),
    ...(kept.autoincrement ? keepSequence(current.name, temporary) : []),
    dropTable(current.name),
    renameTable(temporary, current.name),
    ...change.indexes.kept.map(({ sql }) => sql!),
    ...restoreBystanders(beside),
  ];
}

/** Views and triggers that a rebuild takes down and puts up again. */
export interface Bystanders {
  readonly views: readonly PhysicalView[];
  readonly triggers: readonly PhysicalTrigger[];
}

/** Views that speak of one of the tables, at first or second hand, and triggers that speak of a table or of those. */
export function bystanders(physical: Physical, tables: readonly string[]): Bystanders {
  const names = [...tables];
  const found = new Set<PhysicalView>();
  for (const name of names)
    for (const view of physical.views)
      if (!found.has(view) && mentions(view.sql, name)) {
        found.add(view);
        names.push(view.name);
      }
  const triggers = physical.triggers.filter(({ on, sql }) =>
    names.some((name) => sameName(on, name) || mentions(sql, name)),
  );
  return { views: physical.views.filter((view) => found.has(view)), triggers };
}

/** A table's own triggers go with it, those of a view with the view. */
export function dropBystanders({ views, triggers }: Bystanders, tables: readonly PhysicalTable[]): string[] {
  const going = [...tables, ...views];
  return [
    ...triggers
      .filter(({ on }) => !going.some(({ name }) => sameName(on, name)))
      .map(({ name }) => dropTrigger(name)),
    ...views.map(({ name }) => dropView(name)),
  ];
}

export function restoreBystanders({ views, triggers }: Bystanders): string[] {
  return [...views, ...triggers].map(({ sql }) => sql);
}

/** The rename carries references to itself along. To the old table, they would be carried out when it is dropped. */
function withOwnReferences(table: Table, temporary: string): Table {
  const columns = [...table.columns.values()].map((column) =>
    column.references?.table === table.name
      ? { ...column, references: { ...column.references, table: temporary as TableName } }
      : column,
  );
  return { ...table, columns: new Map(columns.map((column) => [column.name, column])) };
}

export function keepsakes({ current, target, physical, keyChanged }: TableChange): Keepsakes {
  const ddl = parseTableDdl(physical.sql);
  const same = physical.columns.filter(
    ({ name }) =>
      target.columns.get(name) !== undefined &&
      target.columns.get(name)?.type === current.columns.get(name)?.type,
  );
  const collations = same.flatMap(({ name }): [string, string][] => {
    const collation = ddl?.columns.get(name.toLowerCase())?.collation ?? null;
    return collation === null ? [] : [[name, collation]];
  });
  return {
    declaredTypes: new Map(
      same.flatMap((column): [string, string][] => {
        const kept = keptDeclaration(column, physical.strict, target.strict);
        return kept === null ? [] : [[column.name, kept]];
      }),
    ),
    collations: new Map(collations),
    withoutRowid: !physical.hasRowid && target.primaryKey.length > 0,
    autoincrement: !keyChanged && rowidAlias(physical) !== null && (ddl?.autoincrement ?? false),
  };
}

/** Null where the column is declared after the file. ANY holds what it is given in a STRICT table alone; elsewhere no type does. */
function keptDeclaration(
  { declaredType }: PhysicalColumn,
  wasStrict: boolean,
  isStrict: boolean,
): string | null {
  const isAny = wasStrict && declaredType.toUpperCase() === "ANY";
  if (isStrict) return isAny ? declaredType : null;
  return isAny ? "" : declaredType;
}

function copyRows({ current, target, physical }: TableChange, kept: Keepsakes, temporary: string): string {
  const columns = [...target.columns.values()];
  const names = columns.map(({ name }) => quoteName(name));
  const values = columns.map((column) => valueAfter(column, current));
  const taken = [...physical.columns.map(({ name }) => name), ...target.columns.keys()];
  const rowid = physical.hasRowid && !kept.withoutRowid ? rowidName(taken) : null;
  if (rowid !== null && inlineKey(target, kept) === null) {
    names.unshift(rowid);
    values.unshift(rowid);
  }
  const order = rowid === null ? "" : ` ORDER BY ${rowid}`;
  return `INSERT INTO ${quoteName(temporary)} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${quoteName(current.name)}${order}`;
}

/** AUTOINCREMENT never gives a number twice, also that of a row that is gone. */
function keepSequence(table: string, temporary: string): string[] {
  return [
    `DELETE FROM sqlite_sequence WHERE name = ${quoteText(temporary)}`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT ${quoteText(temporary)}, seq FROM sqlite_sequence WHERE name = ${quoteText(table)}`,
  ];
}
