import { holdsOf, type LoggedColumn, type LoggedTable } from "../../changes/image.js";
import type { Table } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";

/**
 * Describes a table as the log of changes needs it, to write rows as JSON and to read them back: its columns and its
 * key, with the kinds of values that each may hold and its collation.
 */
export function loggedTable(table: Table, physical: CatalogTable): LoggedTable {
  const columns = new Map(
    [...table.columns.values()].map(({ name, type }): [string, LoggedColumn] => [
      name,
      {
        name,
        holds: holdsOf(type, physical.affinities.has(name)),
        collation: physical.collations.get(name) ?? null,
      },
    ]),
  );
  return {
    table: table.name,
    columns: [...columns.values()],
    key: table.primaryKey.map((name) => columns.get(name)!),
  };
}
