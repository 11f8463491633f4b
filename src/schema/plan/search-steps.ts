import type { Schema, Table } from "../../project/model.js";
import { type Affinity, affinity } from "../../sqlite/column-type.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import {
  collationsOf,
  type Physical,
  type PhysicalTable,
  type PhysicalTrigger,
  physicalTable,
  rowidAlias,
} from "../physical/physical.js";
import {
  isSearchTrigger,
  type Searched,
  type SearchIndex,
  type SearchKey,
  searchedTable,
  searchIndex,
} from "../physical/search-index.js";
import { dropTable, dropTrigger, inlineKey, type Keepsakes, nothingKept, storageTypes } from "./ddl.js";
import { keepsakes } from "./keepsakes.js";
import { isRenamed, type Renames } from "./renames.js";
import type { Pass, Step } from "./steps.js";
import type { TableChange } from "./table-change.js";

/** The steps of a plan for full-text indexes, and the server's own triggers that they leave in place. */
export interface SearchSteps {
  /**
   * These steps drop full-text indexes. They come before the other steps, because neither columns nor tables are
   * changed while a full-text index depends on them.
   */
  readonly dropped: readonly Step[];
  /**
   * These steps create full-text indexes. They come after all changes and renames of tables, and fill the indexes from
   * the rows as they are then.
   */
  readonly created: readonly Step[];
  readonly staying: readonly PhysicalTrigger[];
}

/**
 * Makes the full-text indexes match the proposed schema. An index is dropped and created anew if its SQL would differ,
 * or if its table is rebuilt. `changes` are those of the tables that stay in the schema.
 */
export function searchSteps(
  proposed: Schema,
  renames: Renames,
  changes: readonly TableChange[],
  physical: Physical,
  ownTriggers: readonly PhysicalTrigger[],
): SearchSteps {
  const wanted = [...proposed.tables.values()]
    .filter(({ search }) => search.length > 0)
    .map((table) => {
      const change = changes.find(({ named }) => named === table);
      const index = searchIndex(searchedOf(table, change, physical));
      const isSame = !change?.rebuild && !isRenamed(renames, table.name, [...table.search, ...table.primaryKey]);
      return { table, index, isKept: isSame && isThere(index, physical, ownTriggers) };
    });
  const kept = new Set(
    wanted.filter(({ isKept }) => isKept).flatMap(({ index }) => [...index.tables.keys(), ...index.triggers.keys()]),
  );
  const old = ownTriggers.filter((trigger) => isSearchTrigger(trigger) && !kept.has(trigger.name));
  const tables = [...physical.tables.values()].filter(
    ({ name, kind }) => kind !== "shadow" && searchedTable(name) !== null && !kept.has(name),
  );
  const of = new Set([...old.map(({ on }) => on), ...tables.map(({ name }) => searchedTable(name)!)]);
  return {
    dropped: [...of].map((table) => ({
      kind: "drop_search",
      description: `drop the search index of ${table}`,
      statements: [
        ...old.filter(({ on }) => on === table).map(({ name }) => dropTrigger(name)),
        ...tables.filter(({ name }) => searchedTable(name) === table).map(({ name }) => dropTable(name)),
      ],
      hazards: [],
      ...(isRemoved(table, changes) ? {} : { isOwn: true }),
    })),
    created: wanted
      .filter(({ isKept }) => !isKept)
      .map(({ table, index }) => ({
        kind: "create_search",
        description: `create the search index of ${table.name} (${table.search.join(", ")})`,
        statements: [...index.tables.values(), ...index.fill, ...index.triggers.values()],
        passes: passesOf(table, changes, physical),
        hazards: [],
        ...(isAskedFor(table, changes) ? {} : { isOwn: true }),
      })),
    staying: ownTriggers.filter((trigger) => !old.includes(trigger)),
  };
}

/** The rows whose words are put into the index of a table. A new table has none. */
function passesOf(table: Table, changes: readonly TableChange[], physical: Physical): readonly Pass[] {
  const source = changes.find(({ named }) => named === table)?.physical ?? physicalTable(physical, table.name);
  return source === undefined ? [] : [{ rows: quoteName(source.name), work: "words" }];
}

/** Whether svc.schema.yaml no longer has `search` for a table that stays. */
function isRemoved(table: string, changes: readonly TableChange[]): boolean {
  return changes.some(({ current, target }) => current.name === table && target.search.length === 0);
}

/** Whether svc.schema.yaml has changed what is searched, so that the index is not only made again. */
function isAskedFor(table: Table, changes: readonly TableChange[]): boolean {
  const change = changes.find(({ named }) => named === table);
  return change === undefined || change.current.search.join() !== change.target.search.join();
}

/** Whether the database has the tables and triggers of a full-text index, made by exactly the statements given here. */
function isThere(
  { tables, triggers }: SearchIndex,
  physical: Physical,
  ownTriggers: readonly PhysicalTrigger[],
): boolean {
  return (
    [...tables].every(([name, sql]) => physicalTable(physical, name)?.sql === sql) &&
    [...triggers].every(([name, sql]) => ownTriggers.some((trigger) => trigger.name === name && trigger.sql === sql))
  );
}

/** The table with the primary key that it will have after the plan. `change` is undefined if it is new or adopted. */
function searchedOf(table: Table, change: TableChange | undefined, physical: Physical): Searched {
  const { name, search: columns, searchTokenizer: tokenizer, primaryKey } = table;
  const source = change?.physical ?? physicalTable(physical, name);
  const made = (from: Table, kept: Keepsakes): Searched => ({
    table: name,
    columns,
    key: from.primaryKey.map(
      (column, i): SearchKey => ({
        name: primaryKey[i]!,
        affinity: affinity(kept.declaredTypes.get(column) ?? storageTypes[from.columns.get(column)!.type]),
        isCollated: kept.collations.has(column),
      }),
    ),
    by: inlineKey(from, kept) === null || kept.withoutRowid ? "keys" : "rowid",
    tokenizer,
  });
  if (change?.rebuild) return made(change.target, keepsakes(change));
  if (source === undefined) return made(table, nothingKept);
  const collations = collationsOf(source);
  const old = change?.target.primaryKey ?? primaryKey;
  return {
    table: name,
    columns,
    key: old.map(
      (column, i): SearchKey => ({
        name: primaryKey[i]!,
        affinity: affinityOf(source, column),
        isCollated: collations.has(column),
      }),
    ),
    by: rowidAlias(source) === null ? "keys" : "rowid",
    tokenizer,
  };
}

/** A column declared ANY in a STRICT table converts no values, so it counts as one with BLOB affinity. */
function affinityOf({ columns, strict }: PhysicalTable, column: string): Affinity {
  const declared = columns.find(({ name }) => name === column)?.declaredType ?? "";
  return strict && declared.toUpperCase() === "ANY" ? "blob" : affinity(declared);
}
