import type { Database } from "../platform/database.js";
import type { Schema, Table } from "../project/model.js";
import { type Affinity, affinity, binary } from "../sqlite/column-type.js";
import { namesIn } from "../sqlite/fragment.js";
import {
  type ColumnName,
  columnName,
  isName,
  systemColumnName,
  type TableName,
  tableName,
} from "../sqlite/names.js";
import { type LoadedPhysical, loadPhysicalAfter } from "./load-physical.js";
import { type OwnersSql, ownersSqlOf } from "./owners-sql.js";
import {
  collationsOf,
  ddlOf,
  isLoose,
  type PhysicalTable,
  rowidAlias,
  rowidName,
  sameName,
} from "./physical.js";
import { noTriggers, triggersReached, type WriteTriggers } from "./triggers-reached.js";
import { findUnsupported, type Unsupported } from "./unsupported.js";

/** What the database says of the tables that a schema can name, as plans need it. */
export interface Catalog {
  readonly tables: ReadonlyMap<TableName, CatalogTable>;
  /** Whether some table has them. */
  readonly hasMixedTexts: boolean;
  /** Of the database: bytes of stored values that one answer may hold. */
  readonly answerBytesMax: number;
  readonly unsupported: Unsupported;
}

/** What the database says of one table. */
export interface CatalogTable {
  /**
   * The INTEGER PRIMARY KEY column, which is the rowid, or else a name of it that no column has taken; null WITHOUT ROWID, and
   * where all of its names are taken.
   */
  readonly rowid: ColumnName | null;
  /**
   * Columns in which equal means the same: STRICT, and compared by BINARY. In others a value can equal one that it is
   * not, by collation or affinity.
   */
  readonly exactColumns: ReadonlySet<string>;
  /** Columns whose values SQLite holds to no type, as a table that is not STRICT has them, with the affinity of each. */
  readonly affinities: ReadonlyMap<string, Affinity>;
  /** Of those, texts that may be stored as numbers, be it since SQLite makes numbers of them or since it takes either. */
  readonly mixedTexts: ReadonlyMap<string, Affinity>;
  /** How columns compare that do not compare by BINARY, such as NOCASE. */
  readonly collations: ReadonlyMap<string, string>;
  /**
   * Full indexes (not partial, no expressions, each column in its own collation) that a scan can use, the primary key's and
   * unique constraints' automatic ones included.
   */
  readonly indexes: readonly CatalogIndex[];
  /**
   * Whether a trigger of the owner's may run on a write, here or in a table that foreign key actions (cascade, set null,
   * set default) reach from here.
   */
  readonly triggers: WriteTriggers;
  /** Whether a write evaluates SQL of the owner's: a check, a default, a generated column, an index, a trigger. */
  readonly hasOwnersSql: boolean;
  readonly checks: readonly CatalogCheck[];
  /** The columns of each, in the order of the statement. */
  readonly foreignKeys: readonly (readonly string[])[];
}

/** What there is to say of a STRICT table WITHOUT ROWID that has columns and a primary key, and nothing else. */
export function plainCatalogTable({ primaryKey }: Table): CatalogTable {
  const columns = primaryKey.map((name) => ({ name, descending: false }));
  return {
    rowid: null,
    affinities: new Map(),
    mixedTexts: new Map(),
    exactColumns: new Set(),
    hasOwnersSql: false,
    checks: [],
    foreignKeys: [],
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

/** An index that a scan can use. */
export interface CatalogIndex {
  /** As the database names it: any string. */
  readonly name: string;
  /** The key columns, without the rowid or primary key that SQLite appends. */
  readonly columns: readonly { readonly name: ColumnName; readonly descending: boolean }[];
  readonly unique: boolean;
  /** The primary key WITHOUT ROWID, which is the table itself. */
  readonly isTable: boolean;
}

/** Of a database in which no schema need be in force. */
export async function loadCatalog(database: Database): Promise<Catalog> {
  return catalogOf(await loadPhysicalAfter(database, []), null, database);
}

/** `schema` is the one in force. */
export async function catalogOf(
  loaded: LoadedPhysical,
  schema: Schema | null,
  database: Database,
): Promise<Catalog> {
  const { physical } = loaded;
  const ownersSql = ownersSqlOf(physical);
  const tables = new Map(
    [...ownersSql].map(([table, sql]) => [tableName(table.name), catalogTableOf(table, sql, loaded, schema)]),
  );
  return {
    answerBytesMax: database.answerBytesMax,
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
    hasOwnersSql: ownersSql.isThere,
    checks: checksOf(table),
    // SQLite tells the last one first.
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

function mixedTextsOf(
  affinities: CatalogTable["affinities"],
  table: Table | undefined,
): CatalogTable["mixedTexts"] {
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
    ...[...ddl.checks, ...[...ddl.columns.values()].flatMap(({ checks }) => checks)].map((text) =>
      check(null, text),
    ),
  ];
}

type Collations = CatalogTable["collations"];

function affinitiesOf(table: PhysicalTable): CatalogTable["affinities"] {
  const loose = table.columns.filter((column) => isLoose(table, column));
  // ANY in a STRICT table converts nothing.
  return new Map(
    loose.map(({ name, declaredType }) => [name, table.strict ? "blob" : affinity(declaredType)]),
  );
}

/** What SQLite holds to no type may be 1 and 1.0, which are equal and yet two. */
function exactColumnsOf(
  table: PhysicalTable,
  affinities: CatalogTable["affinities"],
  collations: Collations,
): ReadonlySet<string> {
  const exact = table.columns.filter(({ name }) => !collations.has(name) && !affinities.has(name));
  return new Set(exact.map(({ name }) => name));
}

/** An index in another collation than its column's serves no comparison of the column, and is not in its order. */
function indexesOf(table: PhysicalTable, collations: Collations): CatalogIndex[] {
  return table.indexes
    .filter(({ partial }) => !partial)
    .filter(({ columns }) =>
      columns.every(
        ({ name, collation }) =>
          name !== null && isName(name) && sameName(collation, collations.get(name) ?? binary),
      ),
    )
    .map(({ name, columns, unique, origin }) => ({
      name,
      unique,
      isTable: origin === "primary_key" && !table.hasRowid,
      columns: columns.map((column) => ({ name: columnName(column.name!), descending: column.descending })),
    }));
}
