import type { Physical, PhysicalTable } from "./physical.js";

type Tables = Physical["tables"];

/**
 * The tables that have a foreign key to `parent`, itself included, in the order of `physical.tables`. The first call
 * computes this for all tables and keeps it, because a catalog asks about each of its tables.
 */
export function referringTables({ tables }: Physical, parent: string): readonly PhysicalTable[] {
  const byParent = found.get(tables) ?? byParentOf(tables);
  found.set(tables, byParent);
  return byParent.get(parent.toLowerCase()) ?? [];
}

const found = new WeakMap<Tables, ReadonlyMap<string, readonly PhysicalTable[]>>();

function byParentOf(tables: Tables): ReadonlyMap<string, readonly PhysicalTable[]> {
  const byParent = new Map<string, PhysicalTable[]>();
  for (const child of tables.values())
    for (const parent of new Set(child.foreignKeys.map(({ parent }) => parent.toLowerCase()))) {
      const children = byParent.get(parent) ?? [];
      byParent.set(parent, children);
      children.push(child);
    }
  return byParent;
}
