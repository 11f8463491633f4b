import { type Physical, type PhysicalTable, sameName } from "./physical.js";
import { referringTables } from "./referring-tables.js";

/** All tables whose foreign keys refer to `table`, directly or through others, without `table` itself. */
export function descendants(physical: Physical, table: string): PhysicalTable[] {
  const found: PhysicalTable[] = [];
  const names = new Set([table.toLowerCase()]);
  // Iterating over a set also visits the names that are added to it meanwhile.
  for (const name of names)
    for (const child of referringTables(physical, name)) {
      if (names.has(child.name.toLowerCase())) continue;
      names.add(child.name.toLowerCase());
      found.push(child);
    }
  return found;
}

/**
 * Orders tables for dropping: a table with a foreign key comes before the table that the key refers to. So dropping the
 * latter does not carry out ON DELETE actions on rows of the former, which is dropped too.
 */
export function childrenFirst<T extends { readonly name: string }>(tables: readonly T[], physical: Physical): T[] {
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
