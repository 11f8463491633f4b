import type { Table } from "../../project/model.js";
import { carriedName } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { type Physical, type PhysicalTable, sameName } from "../physical/physical.js";
import { bystanders, dropBystanders, restoreBystanders } from "./bystanders.js";
import { createIndex, createTable, dropTable } from "./ddl.js";
import { valueAfter } from "./image-after.js";
import { keepsakes } from "./keepsakes.js";
import type { TableChange } from "./table-change.js";

/**
 * Rebuilds tables if foreign keys cannot be switched off (D1). There, dropping a table carries out the ON DELETE
 * actions of the foreign keys that refer to it, deferred or not. So `tables`, which include all tables that refer to a
 * rebuilt one, are copied aside and dropped (`setAside`), then created empty and filled (`bringBack`).
 * `defer_foreign_keys` has to be on. Tables that are dropped for good (`gone`) are not created again.
 */
export function rebuildTogether(
  tables: readonly PhysicalTable[],
  changes: readonly TableChange[],
  gone: readonly Table[],
  physical: Physical,
): { setAside: string[]; bringBack: string[] } {
  const names = tables.map(({ name }) => name);
  const staying = tables.filter(({ name }) => !gone.some((table) => sameName(table.name, name)));
  const around = bystanders(physical, names);
  const successors = staying.map((table) =>
    successorOf(
      table,
      changes.find(({ current }) => sameName(current.name, table.name)),
    ),
  );
  const setAside = [...dropBystanders(around, tables), ...staying.map(copyAside), ...names.map(dropTable)];
  const bringBack = [
    ...successors.map(({ create }) => create),
    // A row with a foreign key can be inserted only when the parent's unique index exists.
    ...successors.flatMap(({ uniqueIndexes }) => uniqueIndexes),
    ...successors.map(({ fill }) => fill),
    ...staying.map(({ name }) => dropTable(asideName(name))),
    ...successors.flatMap(({ otherIndexes }) => otherIndexes),
    ...restoreBystanders(around),
  ];
  return { setAside, bringBack };
}

function copyAside(table: PhysicalTable): string {
  const order = table.hasRowid ? " ORDER BY rowid" : "";
  const aside = quoteName(asideName(table.name));
  return `CREATE TABLE ${aside} AS SELECT ${storedColumns(table, asideColumn)} FROM ${quoteName(table.name)}${order}`;
}

function asideName(name: string): string {
  return `_aside_${name}`;
}

function storedColumns({ columns }: PhysicalTable, written: (name: string) => string): string {
  const stored = columns.filter(({ kind }) => kind === "ordinary");
  return stored.map(({ name }) => written(name)).join(", ");
}

/** CREATE TABLE … AS names columns as a subquery does. */
function asideColumn(name: string): string {
  const carried = carriedName(name);
  return carried === name ? quoteName(name) : `${quoteName(name)} AS ${quoteName(carried)}`;
}

interface Successor {
  readonly create: string;
  readonly fill: string;
  readonly uniqueIndexes: readonly string[];
  readonly otherIndexes: readonly string[];
}

function successorOf(table: PhysicalTable, change: TableChange | undefined): Successor {
  const indexes = change === undefined ? indexesOf(table) : indexesAfter(change);
  return {
    ...(change?.rebuild ? rebuilt(change) : asItWas(table)),
    uniqueIndexes: indexes.filter(({ unique }) => unique).map(({ sql }) => sql),
    otherIndexes: indexes.filter(({ unique }) => !unique).map(({ sql }) => sql),
  };
}

function rebuilt(change: TableChange): Pick<Successor, "create" | "fill"> {
  const columns = [...change.target.columns.values()];
  const names = columns.map(({ name }) => quoteName(name)).join(", ");
  const values = columns.map((column) => valueAfter(column, change.current, carriedName)).join(", ");
  return {
    create: createTable(change.target, keepsakes(change)),
    fill: fill(change.current.name, names, values),
  };
}

function asItWas(table: PhysicalTable): Pick<Successor, "create" | "fill"> {
  const values = storedColumns(table, (name) => quoteName(carriedName(name)));
  return { create: table.sql, fill: fill(table.name, storedColumns(table, quoteName), values) };
}

function fill(table: string, names: string, values: string): string {
  return `INSERT INTO ${quoteName(table)} (${names}) SELECT ${values} FROM ${quoteName(asideName(table))} ORDER BY rowid`;
}

interface IndexSql {
  readonly sql: string;
  readonly unique: boolean;
}

function indexesOf({ indexes }: Pick<PhysicalTable, "indexes">): IndexSql[] {
  return indexes.flatMap(({ sql, unique, partial }) => (sql === null ? [] : [{ sql, unique: unique && !partial }]));
}

function indexesAfter({ current, indexes }: TableChange): IndexSql[] {
  return [
    ...indexesOf({ indexes: indexes.kept }),
    ...indexes.created.map(({ name, shape }) => ({
      sql: createIndex(current.name, shape, name),
      unique: shape.unique && shape.where === null,
    })),
  ];
}
