import type { Database } from "../platform/database.js";
import type { Schema, Table } from "../project/model.js";
import { type Affinity, affinity, binary } from "../sqlite/column-type.js";
import { namesIn } from "../sqlite/fragment.js";
import { type ColumnName, columnName, isName, systemColumnName, type TableName, tableName } from "../sqlite/names.js";
import { type LoadedPhysical, loadPhysicalAfter } from "./physical/load-physical.js";
import { type OwnersSql, ownersSqlOf } from "./physical/owners-sql.js";
import {
  collationsOf,
  ddlOf,
  isLoose,
  type PhysicalTable,
  rowidAlias,
  rowidName,
  sameName,
} from "./physical/physical.js";
import { type SearchedBy, searchedByOf } from "./physical/search-index.js";
import { noTriggers, triggersReached, type WriteTriggers } from "./physical/triggers-reached.js";
import { findUnsupported, type Unsupported } from "./physical/unsupported.js";

/** What the server knows of the database, beyond what the schema says, to plan the SQL of requests. */
export interface Catalog {
  readonly tables: ReadonlyMap<TableName, CatalogTable>;
  /** Whether any table has `CatalogTable.mixedTexts`. */
  readonly hasMixedTexts: boolean;
  /** How many bytes of stored values one answer of the database may hold. */
  readonly answerBytesMax: number;
  /** How many bytes of stored values a page of rows may hold: `api.max_page_bytes`, or `answerBytesMax` if less. */
  readonly pageBytesMax: number;
  /**
   * How many bytes the image of a row in the log of changes may have (`Database.imageBytesMax`); null for any number.
   */
  readonly imageBytesMax: number | null;
  /** How many statements one batch may have (`Database.statementsMax`); null for any number. */
  readonly statementsMax: number | null;
  readonly unsupported: Unsupported;
}

/** What the server knows of one table in the database, beyond what the schema says. */
export interface CatalogTable {
  /**
   * The name by which SQL reaches the table's rowid: the INTEGER PRIMARY KEY column, or else the first of `_rowid_`,
   * `rowid` and `oid` that no column is called. Null for a table WITHOUT ROWID, and if columns have all three names.
   */
  readonly rowid: ColumnName | null;
  /**
   * The columns in which values that compare as equal are also identical: those of a STRICT table that have one type
   * and are compared by BINARY. Elsewhere a collation or an affinity can make different values equal, as NOCASE does
   * 'a' and 'A'.
   */
  readonly exactColumns: ReadonlySet<string>;
  /**
   * The affinity of columns that may hold values of any type: all columns of a table that is not STRICT, and ANY
   * columns of one that is.
   */
  readonly affinities: ReadonlyMap<string, Affinity>;
  /**
   * The columns of `affinities` that the schema calls text or json and whose affinity is not TEXT, so that they may
   * hold numbers. SQLite either converts texts in them that read as numbers, or stores texts and numbers as they are
   * given.
   */
  readonly mixedTexts: ReadonlyMap<string, Affinity>;
  /** The collations, by column, that are not BINARY but, for instance, NOCASE. */
  readonly collations: ReadonlyMap<string, string>;
  /**
   * The indexes that a scan can use: not partial, without expressions, and with each column in the collation that the
   * column itself has. SQLite's automatic indexes of the primary key and of unique constraints are included.
   */
  readonly indexes: readonly CatalogIndex[];
  /**
   * What triggers do when a row of the table is written, including triggers of other tables that the write reaches by
   * foreign key actions (cascade, set null, set default) or by triggers.
   */
  readonly triggers: WriteTriggers;
  /**
   * Whether a write of the table may evaluate the owner's SQL: a CHECK, a default that is an expression, a generated
   * column, an index on an expression or with a condition, or a trigger, of this table or of those that refer to it by
   * foreign keys, directly or through other tables.
   */
  readonly hasOwnersSql: boolean;
  readonly checks: readonly CatalogCheck[];
  /** What numbers the rows in the table's full-text index; null without such an index. */
  readonly searchedBy: SearchedBy | null;
  /** How many arguments an SQL function may have in the table's database (`Database.functionArgumentsMax`). */
  readonly functionArgumentsMax: number;
  /** The columns of each foreign key, in the order in which the CREATE statement declares the keys. */
  readonly foreignKeys: readonly (readonly string[])[];
}

/** How many arguments an SQL function may have in every database: D1 allows the fewest. */
export const functionArgumentsMin = 32;

/** The entry for a STRICT table WITHOUT ROWID that has columns and a primary key, and nothing else. */
export function plainCatalogTable({ primaryKey }: Table): CatalogTable {
  const columns = primaryKey.map((name) => ({ name, descending: false }));
  return {
    rowid: null,
    affinities: new Map(),
    mixedTexts: new Map(),
    exactColumns: new Set(),
    functionArgumentsMax: functionArgumentsMin,
    hasOwnersSql: false,
    checks: [],
    foreignKeys: [],
    searchedBy: null,
    collations: new Map(),
    indexes: [{ name: "", columns, unique: true, isTable: true }],
    triggers: { insert: noTriggers, update: noTriggers, delete: noTriggers },
  };
}

/** A CHECK of a table or of one of its columns. */
export interface CatalogCheck {
  readonly name: string | null;
  readonly sql: string;
  readonly columns: readonly string[];
}

/** An index by which SQLite can find rows of a table, or read them in an order. */
export interface CatalogIndex {
  /** In the database, where it may be any string. */
  readonly name: string;
  /** Without the rowid or primary key that SQLite appends. */
  readonly columns: readonly { readonly name: ColumnName; readonly descending: boolean }[];
  readonly unique: boolean;
  /** Whether the index is the primary key of a table WITHOUT ROWID, and so the table itself. */
  readonly isTable: boolean;
}

/** Loads the catalog without a schema. So `mixedTexts`, which also depends on the schema's types, is empty. */
export async function loadCatalog(database: Database): Promise<Catalog> {
  return catalogOf(await loadPhysicalAfter(database, []), null, database);
}

/** `schema` is the schema in force, if there is one. */
export async function catalogOf(loaded: LoadedPhysical, schema: Schema | null, database: Database): Promise<Catalog> {
  const { physical } = loaded;
  const ownersSql = ownersSqlOf(physical);
  const tables = new Map(
    [...ownersSql].map(([table, sql]) => [tableName(table.name), catalogTableOf(table, sql, loaded, schema, database)]),
  );
  return {
    answerBytesMax: database.answerBytesMax,
    pageBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    unsupported: await findUnsupported(database, ownersSql),
    hasMixedTexts: [...tables.values()].some(({ mixedTexts }) => mixedTexts.size > 0),
    tables,
  };
}

function catalogTableOf(
  table: PhysicalTable,
  ownersSql: OwnersSql,
  { physical, ownTriggers }: LoadedPhysical,
  schema: Schema | null,
  { functionArgumentsMax = functionArgumentsMin }: Database,
): CatalogTable {
  const collations = collationsOf(table);
  const affinities = affinitiesOf(table);
  return {
    rowid: rowidOf(table),
    affinities,
    mixedTexts: mixedTextsOf(affinities, schema?.tables.get(table.name)),
    exactColumns: exactColumnsOf(table, affinities, collations),
    collations,
    indexes: indexesOf(table, collations),
    triggers: triggersReached(physical, ownTriggers, table),
    functionArgumentsMax,
    hasOwnersSql: ownersSql.isThere,
    checks: checksOf(table),
    searchedBy: searchedByOf(physical, table.name),
    // SQLite's pragma_foreign_key_list returns the last foreign key of a table first.
    foreignKeys: table.foreignKeys.map((key) => key.columns.map(({ from }) => from)).reverse(),
  };
}

function rowidOf(table: PhysicalTable): ColumnName | null {
  if (!table.hasRowid) return null;
  const alias = rowidAlias(table);
  if (alias !== null && isName(alias)) return columnName(alias);
  const free = rowidName(table.columns.map(({ name }) => name));
  return free === null ? null : systemColumnName(free);
}

function mixedTextsOf(affinities: CatalogTable["affinities"], table: Table | undefined): CatalogTable["mixedTexts"] {
  const isText = (name: string) => ["text", "json"].includes(table?.columns.get(name)?.type ?? "");
  return new Map([...affinities].filter(([name, stored]) => isText(name) && stored !== "text"));
}

function checksOf(table: PhysicalTable): readonly CatalogCheck[] {
  const { columns } = table;
  const ddl = ddlOf(table);
  if (ddl === null) return [];
  const check = (name: string | null, text: string): CatalogCheck => {
    const named = namesIn(text);
    return {
      name,
      sql: text,
      columns: columns.map((column) => column.name).filter((column) => named.has(column.toLowerCase())),
    };
  };
  return [
    ...[...ddl.namedChecks].map(([name, text]) => check(name, text)),
    ...[...ddl.checks, ...[...ddl.columns.values()].flatMap(({ checks }) => checks)].map((text) => check(null, text)),
  ];
}

type Collations = CatalogTable["collations"];

function affinitiesOf(table: PhysicalTable): CatalogTable["affinities"] {
  const loose = table.columns.filter((column) => isLoose(table, column));
  // A column of type ANY in a STRICT table converts no values, just as a column of BLOB affinity in another table.
  return new Map(loose.map(({ name, declaredType }) => [name, table.strict ? "blob" : affinity(declaredType)]));
}

/** A column that may hold values of any type is left out: it can hold 1 and 1.0, which are equal and yet two values. */
function exactColumnsOf(
  table: PhysicalTable,
  affinities: CatalogTable["affinities"],
  collations: Collations,
): ReadonlySet<string> {
  const exact = table.columns.filter(({ name }) => !collations.has(name) && !affinities.has(name));
  return new Set(exact.map(({ name }) => name));
}

/**
 * Indexes with a column in another collation than the column's own are left out, because they cannot serve comparisons
 * of the column and are not in its order.
 */
function indexesOf(table: PhysicalTable, collations: Collations): CatalogIndex[] {
  return table.indexes
    .filter(({ partial }) => !partial)
    .filter(({ columns }) =>
      columns.every(
        ({ name, collation }) => name !== null && isName(name) && sameName(collation, collations.get(name) ?? binary),
      ),
    )
    .map(({ name, columns, unique, origin }) => ({
      name,
      unique,
      isTable: origin === "primary_key" && !table.hasRowid,
      columns: columns.map((column) => ({ name: columnName(column.name!), descending: column.descending })),
    }));
}
