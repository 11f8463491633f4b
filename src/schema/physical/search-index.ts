import type { SearchTokenizer } from "../../project/model.js";
import type { Affinity } from "../../sqlite/column-type.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { type Physical, type PhysicalTrigger, physicalTable } from "./physical.js";

/**
 * Where the documents of a full-text index have their numbers from. `rowid`: from the table's INTEGER PRIMARY KEY.
 * `keys`: from a table of the server's own that has a number for each primary key, because SQLite may change a rowid
 * that is no INTEGER PRIMARY KEY (https://sqlite.org/lang_vacuum.html).
 */
export type SearchedBy = "rowid" | "keys";

/** The tables that make up the full-text index of a table. */
export interface SearchNames {
  /**
   * The FTS5 table, which holds the words and a copy of the texts. By the copy, FTS5 finds the words of a document that
   * is deleted, also if its row is gone already. FTS5 could do without one (`contentless_delete`), but then other
   * programs would need SQLite 3.43 to write to the searched table. The columns are `c0`, `c1` and so on, because FTS5
   * reserves some names, such as `rank`, for itself.
   */
  readonly words: string;
  /**
   * The table of keys, if the rowid cannot number documents. `doc` is the number of a document, and `k0`, `k1` and so
   * on are the columns of the row's primary key.
   */
  readonly keys: string;
}

/** Different for each searched table, and never the names of tables that FTS5 itself adds. */
export function searchNames(table: string): SearchNames {
  return { words: `_search_${table}_words`, keys: `_search_${table}_keys` };
}

/** The owner's table to whose full-text index the table `name` belongs; null for none. */
export function searchedTable(name: string): string | null {
  return /^_search_(.+)_(?:words|keys)$/i.exec(name)?.[1] ?? null;
}

/** Whether a table is part of a full-text index, by its name. Tables that FTS5 itself adds are not recognised. */
export function isSearchTable(name: string): boolean {
  return searchedTable(name) !== null;
}

const triggerPrefix = "_svc_search_";

/** Whether a trigger keeps a full-text index up to date, by its name. */
export function isSearchTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(triggerPrefix);
}

/** Null if the database has no full-text index for the table. */
export function searchedByOf(physical: Physical, table: string): SearchedBy | null {
  const { words, keys } = searchNames(table);
  if (physicalTable(physical, words) === undefined) return null;
  return physicalTable(physical, keys) === undefined ? "rowid" : "keys";
}

/** A column of a searched table's primary key, as the database has it. */
export interface SearchKey {
  readonly name: string;
  readonly affinity: Affinity;
  /** Whether the collation is not BINARY. The full-text index compares its values by BINARY all the same. */
  readonly isCollated: boolean;
}

/** What the statements for a full-text index depend on. */
export interface Searched {
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly SearchKey[];
  readonly by: SearchedBy;
  readonly tokenizer: SearchTokenizer;
}

/** SQLite has `trigram` since 3.34. */
const tokenizers: Record<SearchTokenizer, string> = { unicode61: "unicode61 remove_diacritics 2", trigram: "trigram" };

/** The statements for the full-text index of one table. */
export interface SearchIndex {
  /** The CREATE statements of the tables, by name. */
  readonly tables: ReadonlyMap<string, string>;
  /** Fills the full-text index from the rows that the searched table has already. */
  readonly fill: readonly string[];
  /** The CREATE statements of the triggers that keep the full-text index up to date, by name. */
  readonly triggers: ReadonlyMap<string, string>;
}

/**
 * The SQL for the full-text index of a table. Its triggers read the row from the table and do not use the row that
 * SQLite gives them, so that the outcome does not depend on the order in which triggers run. They delete a document
 * before they insert it, because a row that is replaced by another one does not fire the trigger for deleted rows.
 */
export function searchIndex(searched: Searched): SearchIndex {
  const { table, columns, key, by } = searched;
  const names = searchNames(table);
  const [words, keys, rows] = [names.words, names.keys, table].map(quoteName) as [string, string, string];
  const places = columns.map((_, i) => `c${i}`);
  const texts = columns.map((column) => `_t.${quoteName(column)}`).join(", ");
  const into = `INSERT INTO ${words} (rowid, ${places.join(", ")})`;
  const keyNames = key.map((_, i) => `k${i}`);
  const isRow = (value: (column: SearchKey, i: number) => string) =>
    key
      .flatMap((column, i) => {
        const equal = `_t.${quoteName(column.name)} = ${value(column, i)}`;
        // By the first comparison SQLite can use an index of the column. The second one compares bytes, and decides.
        return column.isCollated ? [equal, `${equal} COLLATE BINARY`] : [equal];
      })
      .join(" AND ");
  const linked = isRow((_, i) => `_d.k${i}`);
  const rowid = quoteName(key[0]!.name);
  const fts5 = `CREATE VIRTUAL TABLE ${words} USING fts5(${places.join(", ")}, tokenize='${tokenizers[searched.tokenizer]}')`;
  const keyColumns = key.map(({ affinity }, i) => `k${i} ${affinity.toUpperCase()}`);
  const keysTable = `CREATE TABLE ${keys} (doc INTEGER PRIMARY KEY, ${keyColumns.join(", ")}, UNIQUE (${keyNames.join(", ")}))`;
  const keysOf = (where: string) =>
    `INSERT INTO ${keys} (${keyNames.join(", ")}) SELECT ${key.map(({ name }) => `_t.${quoteName(name)}`).join(", ")} FROM ${rows} AS _t${where}`;
  const fromKeys = `${into} SELECT _d.doc, ${texts} FROM ${keys} AS _d CROSS JOIN ${rows} AS _t WHERE ${linked}`;
  const renewed = (row: "old" | "new"): readonly string[] => {
    const isIt = isRow(({ name }) => `${row}.${quoteName(name)}`);
    const isKey = key.map(({ name }, i) => `k${i} = ${row}.${quoteName(name)}`).join(" AND ");
    return by === "rowid"
      ? [
          `DELETE FROM ${words} WHERE rowid = ${row}.${rowid}`,
          `${into} SELECT _t.${rowid}, ${texts} FROM ${rows} AS _t WHERE ${isIt}`,
        ]
      : [
          `DELETE FROM ${words} WHERE rowid = (SELECT doc FROM ${keys} WHERE ${isKey})`,
          `DELETE FROM ${keys} WHERE ${isKey}`,
          keysOf(` WHERE ${isIt}`),
          `${fromKeys} AND ${isKey}`,
        ];
  };
  const isMoved = key.map(({ name }) => `old.${quoteName(name)} IS NOT new.${quoteName(name)}`).join(" OR ");
  const trigger = (event: string, on: string, statements: readonly string[], when = "") => {
    const name = `${triggerPrefix}${table}_${event}`;
    const body = statements.map((statement) => `  ${statement};\n`).join("");
    return [name, `CREATE TRIGGER ${quoteName(name)} AFTER ${on} ON ${rows}${when} BEGIN\n${body}END`] as const;
  };
  return {
    tables: new Map([[names.words, fts5], ...(by === "keys" ? [[names.keys, keysTable] as const] : [])]),
    fill: by === "keys" ? [keysOf(""), fromKeys] : [`${into} SELECT _t.${rowid}, ${texts} FROM ${rows} AS _t`],
    triggers: new Map([
      trigger("insert", "INSERT", renewed("new")),
      trigger("update", `UPDATE OF ${columns.map(quoteName).join(", ")}`, renewed("new")),
      // Not `UPDATE OF` the columns of the key: an update may also set the key by the name `rowid`, which that would
      // miss.
      trigger("move", "UPDATE", [...renewed("old"), ...renewed("new")], ` WHEN ${isMoved}`),
      trigger("delete", "DELETE", renewed("old")),
    ]),
  };
}
