import { createTable, dropTable } from "./ddl.js";
import { valueAfter } from "./images.js";
import { type Physical, type PhysicalTable, physicalTable, sameName } from "./physical.js";
import { bystanders, dropBystanders, keepsakes, restoreBystanders } from "./rebuild.js";
import { quoteName } from "./sql-tokens.js";
import { type Hazard, impossible } from "./steps.js";
import type { TableChange } from "./table-change.js";

/**
 * A rebuild where foreign keys cannot be switched off (D1). Dropping a table carries out the `ON DELETE` actions of its
 * children there, deferred or not, so the table and all that refer to it, at first or second hand, are copied aside,
 * dropped, made again and filled again.
 *
 * @param gone indexes that an earlier step has dropped
 */
export function rebuildWithChildren(
  change: TableChange,
  physical: Physical,
  gone: ReadonlySet<string>,
): string[] {
  const { current, target } = change;
  const children = descendants(physical, current.name);
  const all = [change.physical, ...children];
  const beside = bystanders(
    physical,
    all.map(({ name }) => name),
  );
  const columns = [...target.columns.values()];
  const names = columns.map(({ name }) => quoteName(name)).join(", ");
  const values = columns.map((column) => valueAfter(column, current)).join(", ");
  return [
    ...dropBystanders(beside, all),
    ...all.map(setAside),
    ...all.map(({ name }) => dropTable(name)),
    createTable(target, keepsakes(change)),
    ...children.map(({ sql }) => sql),
    `INSERT INTO ${quoteName(target.name)} (${names}) SELECT ${values} FROM ${keptAs(current)}`,
    ...children.map(bringBack),
    ...all.map(({ name }) => dropTable(keptName(name))),
    ...change.indexes.kept.map(({ sql }) => sql!),
    ...children.flatMap(({ indexes }) =>
      indexes.flatMap(({ name, sql }) => (sql === null || gone.has(name) ? [] : [sql])),
    ),
    ...restoreBystanders(beside),
  ];
}

/** The tables that refer to a table, and those that refer to them. */
export function descendants(physical: Physical, table: string): PhysicalTable[] {
  const found: PhysicalTable[] = [];
  const names = [table];
  for (const name of names)
    for (const child of physical.tables.values()) {
      const refers = child.foreignKeys.some(({ parent }) => sameName(parent, name));
      if (!refers || names.some((known) => sameName(known, child.name))) continue;
      names.push(child.name);
      found.push(child);
    }
  return found;
}

/**
 * Parents before their children: a rebuild makes the children again as they are, which must not be as they were before
 * a step of their own.
 */
export function parentsFirst(changes: readonly TableChange[], physical: Physical): TableChange[] {
  const waiting = [...changes];
  const ordered: TableChange[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(
      (change) =>
        !waiting.some((other) => other !== change && other.rebuild && isDescendant(change, other, physical)),
    );
    ordered.push(...waiting.splice(Math.max(free, 0), 1));
  }
  return ordered;
}

/** For dropping: so no foreign key action of a parent has anything left to do in a child. */
export function childrenFirst<T extends { readonly name: string }>(
  tables: readonly T[],
  physical: Physical,
): T[] {
  const waiting = [...tables];
  const ordered: T[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(({ name }) => {
      const below = descendants(physical, name);
      return !waiting.some(
        (other) => other.name !== name && below.some((child) => sameName(child.name, other.name)),
      );
    });
    ordered.push(...waiting.splice(Math.max(free, 0), 1));
  }
  return ordered;
}

/** Tables that refer to each other and both change have no such order. */
export function orderHazards(
  change: TableChange,
  earlier: readonly TableChange[],
  physical: Physical,
): Hazard[] {
  const undone = earlier.filter((other) => isChanged(other) && isDescendant(other, change, physical));
  return undone.map(({ current }) =>
    impossible(
      `${change.current.name} and ${current.name} refer to each other: change one of them at a time`,
    ),
  );
}

function isChanged({ added, dropped, rebuild }: TableChange): boolean {
  return rebuild || added.length > 0 || dropped.length > 0;
}

function isDescendant(child: TableChange, parent: TableChange, physical: Physical): boolean {
  const there = physicalTable(physical, child.current.name);
  return descendants(physical, parent.current.name).some((table) => table === there);
}

function setAside(table: PhysicalTable): string {
  const order = table.hasRowid ? " ORDER BY rowid" : "";
  return `CREATE TABLE ${keptAs(table)} AS SELECT ${storedColumns(table)} FROM ${quoteName(table.name)}${order}`;
}

function bringBack(table: PhysicalTable): string {
  const columns = storedColumns(table);
  return `INSERT INTO ${quoteName(table.name)} (${columns}) SELECT ${columns} FROM ${keptAs(table)}`;
}

function keptName(name: string): string {
  return `_keep_${name}`;
}

function keptAs({ name }: { readonly name: string }): string {
  return quoteName(keptName(name));
}

function storedColumns({ columns }: PhysicalTable): string {
  const stored = columns.filter(({ kind }) => kind === "ordinary");
  return stored.map(({ name }) => quoteName(name)).join(", ");
}
