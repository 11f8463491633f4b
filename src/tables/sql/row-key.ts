import type { Column, Table } from "../../project/model.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { makesNumbers } from "../../sqlite/column-type.js";
import { sqlTableName } from "../../sqlite/names.js";
import type { Seek } from "../plan/plan-check.js";
import {
  and,
  columnsIn,
  empty,
  internalName,
  join,
  name,
  type Param,
  param,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import { jsonObject } from "./wire.js";

/**
 * Values for columns. A column may have a slot instead of a value (a placeholder that is filled when the statement is
 * sent), or SQL that yields its value.
 */
export type Values = ReadonlyMap<Column, Param | Sql>;

/** Makes the SQL of a column's value: a placeholder for it, unless it is SQL already. */
export function valueSql(value: Param | Sql): Sql {
  return typeof value === "object" && value !== null && "text" in value ? value : param(value);
}

/** Makes the SQL of a value for a column with a reference: NULL where no row has it that the column could refer to. */
export function referredValue({ references }: Column, value: Param | Sql): Sql {
  const column = name(references!.column);
  return sql`(SELECT ${column} FROM ${name(sqlTableName(references!.table))} WHERE ${column} = ${valueSql(value)})`;
}

/**
 * Returns how SQLite is expected to find the row when a statement looks up one row by the table's primary key. For
 * metering, which checks the query plan against it.
 */
export function keySeek(alias: string, { primaryKey }: Table): Seek {
  return { alias, columns: primaryKey };
}

/** Makes the condition that a row has this primary key. It is TRUE for at most one row. */
export function keyIs(table: Table, key: Values, alias: Sql, catalog: Catalog): Sql {
  const physical = catalog.tables.get(table.name);
  return [...key.keys()].some((column) => holdsEither(column, physical))
    ? keyIsShown(table, key, alias, physical)
    : and([...key].map(([column, value]) => sql`${alias}.${name(column.name)} = ${valueSql(value)}`));
}

/**
 * Whether a column can hold several values that are shown as the same: a text and a number in a column of texts, as `'1'`
 * and `1`, or any value and a blob with the same bytes in a column of blobs.
 */
function holdsEither({ name: column, type }: Column, physical: CatalogTable | undefined): boolean {
  if (type === "blob") return physical?.affinities.has(column) === true;
  const stored = physical?.mixedTexts.get(column);
  return stored !== undefined && !makesNumbers(stored);
}

/**
 * Makes the condition that a row has this primary key, for a key with a column that can hold several values that are
 * shown as the same (`holdsEither`). Where rows with several of them exist, it is TRUE only for the one with the blob,
 * else for the one with the text. CROSS JOIN makes SQLite look that up first, and LIMIT 1 takes the first row found.
 */
function keyIsShown(table: Table, key: Values, alias: Sql, physical: CatalogTable | undefined): Sql {
  const columns = [...key].map(([column, value], i) => {
    const stored = sql`_k.${name(column.name)}`;
    if (!holdsEither(column, physical)) return { from: [], terms: [sql`${stored} = ${valueSql(value)}`] };
    const isBlob = column.type === "blob";
    const given = valueSql(value);
    const text = isBlob ? sql`CAST(${given} AS TEXT)` : given;
    const number = sql`CAST(${text} AS NUMERIC)`;
    const either = internalName("k", i);
    return {
      from: [
        sql`(VALUES ${isBlob ? sql`(${given}), ` : empty}(${text}), (CASE WHEN ${text} IN (CAST(${number} AS TEXT), CAST(CAST(${text} AS REAL) AS TEXT)) THEN ${number} END)) AS ${either}`,
      ],
      terms: [
        sql`${stored} = ${either}.column1`,
        isBlob ? sql`CAST(${stored} AS BLOB) = ${given}` : sql`CAST(${stored} AS TEXT) = ${text}`,
      ],
    };
  });
  const from = join([...columns.flatMap((each) => each.from), sql`${name(table.name)} AS _k`], sql` CROSS JOIN `);
  const where = and(columns.flatMap(({ terms }) => terms));
  return sql`(${columnsIn(alias, key.keys())}) = (SELECT ${columnsIn(sql`_k`, key.keys())} FROM ${from} WHERE ${where} LIMIT 1)`;
}

/** Returns the columns of a table's primary key, in the order of the key. */
export function keyOf(table: Table): readonly Column[] {
  return table.primaryKey.map((column) => table.columns.get(column)!);
}

/** `FROM … WHERE …` that finds the row with these values in its primary key or in a unique constraint. */
export function rowWith(table: Table, key: Values, catalog: Catalog): Sql {
  const target = name(table.name);
  return sql`FROM ${target} WHERE ${keyIs(table, key, target, catalog)}`;
}

/** Makes the SQL of the primary key of the written row of a table, as a JSON object. */
export function keyJson(table: Table, catalog: Catalog): Sql {
  const refer = ({ name: column }: Column) => sql`${name(table.name)}.${name(column)}`;
  return jsonObject(keyOf(table), refer, catalog.tables.get(table.name));
}
