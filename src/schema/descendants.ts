import { type Physical, type PhysicalTable, sameName } from "./physical.js";
import { referringTables } from "./referring-tables.js";

/** All tables that refer to the table by foreign keys, directly or through others, without the table itself. */
export function descendants(physical: Physical, table: string): PhysicalTable[] {
  const found: PhysicalTable[] = [];
  const names = new Set([table.toLowerCase()]);
  // The loop also goes over the names that it adds to the set itself, and so finds children of children.
  for (const name of names)
    for (const child of referringTables(physical, name)) {
      if (names.has(child.name.toLowerCase())) continue;
      names.add(child.name.toLowerCase());
      found.push(child);
    }
  return found;
}

/**
 * Orders tables for dropping: children before the tables that they refer to, so that no foreign key action finds rows
 * to change.
 */
export function childrenFirst<T extends { readonly name: string }>(
  tables: readonly T[],
  physical: Physical,
): T[] {
  const waiting = [...tables];
  const ordered: T[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(({ name }) => {
      const below = descendants(physical, name);
      return !waiting.some((other) => below.some((child) => sameName(child.name, other.name)));
    });
    ordered.push(...waiting.splice(Math.max(free, 0), 1));
  }
  return ordered;
}
