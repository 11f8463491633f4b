import {
  completedSql,
  fromImage,
  fromKey,
  imageSql,
  keySql,
  type LoggedColumn,
  type LoggedTable,
} from "../../changes/image.js";
import type { Column } from "../../project/model.js";
import type { Exists, Expression } from "../../rules/ast.js";
import { substitute } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { carriedName, sqlTableName } from "../../sqlite/names.js";
import { quoteText } from "../../sqlite/sql-tokens.js";
import {
  aliasName,
  and,
  carried,
  commaList,
  integer,
  name,
  param,
  physicalName,
  Slot,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import { predicate, type SqlNames } from "./predicate.js";
import { jsonObject } from "./wire.js";

/** SQL for the tables as they were at a moment, the number of an entry of the log (docs/change-log.md). */
export interface AsOf {
  /** Common table expressions that the other members need. */
  readonly ctes: readonly Sql[];
  /**
   * A table in a FROM, with the rows that were changed after the moment: `tbl` and `pk` of each, and as `seq` the
   * number of the first entry about it since.
   */
  readonly changed: Sql;
  /**
   * A table in a FROM, with those rows of a table that were changed after the moment, as they were at the moment: `_pk`
   * and their columns. Rows that did not exist at the moment are not in it.
   */
  images(table: string): Sql;
  /** A SELECT of those of `images` whose key is in the column `pk` of this table of a FROM. */
  imagesAmong(keys: Sql, table: string): Sql;
  /**
   * A SELECT of the keys of `images`: `_pk`, the columns of the key, the number of the entry that has the image as
   * `seq`, and how many `bytes` that has.
   */
  imageKeys(table: string): Sql;
  /**
   * What joins the entry that has a row's image to a FROM, under this alias, where `pk` is the row's key; its columns are
   * NULL where there is none.
   */
  withImage(table: string, pk: Sql, alias: Sql): Sql;
  /** The SQL condition that the row of this alias has not been changed since the moment. */
  isUnchanged(table: string, alias: Sql): Sql;
  /** The SQL of an `exists` that looks into its table as it was at the moment. So does every `exists` inside of it. */
  exists(node: Exists, names: SqlNames): Sql;
}

/**
 * Makes the SQL for the tables as they were at a moment. `at` is the number of the moment's entry in the log. `label`
 * is in the names of the common table expressions, so that one statement can have those of two moments.
 */
export function asOf(at: Sql, label: "c" | "h", tables: readonly LoggedTable[], catalog: Catalog): AsOf {
  const changed = internal(`first_${label}`);
  const images = new Map(tables.map(({ table }, i) => [table.toLowerCase(), internal(`as_${label}${i}`)]));
  const logged = (table: string) => tables.find((each) => each.table.toLowerCase() === table.toLowerCase())!;
  const imagesOf = (table: string) => images.get(table.toLowerCase())!;
  const isUnchanged: AsOf["isUnchanged"] = (table, alias) =>
    sql`NOT EXISTS (SELECT 1 FROM _changes AS _l WHERE _l.tbl = ${tableLiteral(table)} AND _l.pk = ${key(logged(table), alias)} AND _l.seq > ${at})`;
  const exists: AsOf["exists"] = ({ table, alias, where }, names) => {
    const from = sqlTableName(table);
    const within = (isImage: boolean): SqlNames => {
      const inner: SqlNames = {
        ...names,
        exists: (nested) => exists(nested, inner),
        isCarried: (its) => (its === alias ? isImage : (names.isCarried?.(its) ?? false)),
      };
      return inner;
    };
    const row = aliasName(alias);
    const shown = asShownOf(where, { alias }, catalog.tables.get(from));
    return sql`(EXISTS (SELECT 1 FROM ${name(from)} AS ${row} WHERE ${predicate(where, within(false))} AND ${isUnchanged(from, row)}) OR EXISTS (SELECT 1 FROM ${imagesOf(from)} AS ${row} WHERE ${predicate(shown, within(true))}))`;
  };
  const from = sql`${changed} AS _f CROSS JOIN _changes AS _l`;
  const isImage = (table: string) => sql`_f.tbl = ${tableLiteral(table)} AND _l.seq = _f.seq AND _l.old IS NOT NULL`;
  return {
    changed,
    images: imagesOf,
    imagesAmong: (keys, table) =>
      sql`SELECT _l.pk AS _pk, ${imageColumns(logged(table).columns, sql`_l.old`)} FROM ${keys} CROSS JOIN ${from} WHERE _f.pk = ${keys}.pk AND ${isImage(table)}`,
    imageKeys: (table) => {
      const columns = logged(table).key.map(
        ({ name: column }, i) => sql`${keyColumn(logged(table), i, sql`_l.pk`)} AS ${carried(column)}`,
      );
      return sql`SELECT _l.pk AS _pk, _l.seq AS seq, octet_length(_l.old) AS bytes, ${commaList(columns)} FROM ${from} WHERE ${isImage(table)}`;
    },
    withImage: (table, pk, alias) =>
      sql` LEFT JOIN ${changed} AS ${alias}_f ON ${alias}_f.tbl = ${tableLiteral(table)} AND ${alias}_f.pk = ${pk} LEFT JOIN _changes AS ${alias} ON ${alias}.seq = ${alias}_f.seq`,
    isUnchanged,
    exists,
    ctes: [
      // NOT INDEXED makes SQLite read the log in the order of its entries, so that it begins after the moment and reads
      // no earlier entry.
      sql`${changed} AS MATERIALIZED (SELECT tbl, pk, min(seq) AS seq FROM _changes NOT INDEXED WHERE seq > ${at} GROUP BY tbl, pk)`,
      ...tables.map(
        (table) =>
          sql`${imagesOf(table.table)} AS MATERIALIZED (SELECT _l.pk AS _pk, ${imageColumns(table.columns, sql`_l.old`)} FROM ${changed} AS _f CROSS JOIN _changes AS _l ON _l.seq = _f.seq WHERE _f.tbl = ${tableLiteral(table.table)} AND _l.old IS NOT NULL)`,
      ),
    ],
  };
}

/** The columns of a row under their names, read from the row's image. */
export function imageColumns(columns: readonly LoggedColumn[], image: Sql): Sql {
  return commaList(columns.map((column) => sql`${imageColumn(column, image)} AS ${carried(column.name)}`));
}

/** The value of a column, read from a row's image. */
export function imageColumn(column: LoggedColumn, image: Sql): Sql {
  return collated({ text: fromImage(column, image.text), params: [] }, column);
}

/** The text that the log has for a key, whose values come by slots. */
export function keyText({ key: columns }: LoggedTable): Sql {
  const values = columns.map((column) => sql`${param(new Slot(column.name))} AS ${carried(column.name)}`);
  const named = columns.map((column) => ({ ...column, name: carriedName(column.name) }));
  return sql`(SELECT ${{ text: keySql(named, "_k"), params: [] }} FROM (SELECT ${commaList(values)}) AS _k)`;
}

/** The value of a column of the primary key, read from the text of a key as the log writes it. */
export function keyColumn({ key }: LoggedTable, i: number, pk: Sql): Sql {
  return collated({ text: fromKey(key[i]!, pk.text, i), params: [] }, key[i]!);
}

/**
 * The SQL condition that the row of an alias has the key whose text is `pk`. An index of the primary key serves the
 * condition. Keys that are equal are not always the same one, as 'a' and 'A' are not where the collation is NOCASE.
 */
export function hasKey(table: LoggedTable, alias: Sql, pk: Sql): Sql {
  const isExact = table.key.every(({ collation, holds }) => collation === null && holds !== "any");
  return and([
    ...table.key.map((column, i) => sql`${alias}.${name(column.name)} = ${keyColumn(table, i, pk)}`),
    ...(isExact ? [] : [sql`${key(table, alias)} = ${pk}`]),
  ]);
}

/** The key whose text is `pk`, as a JSON object of those of its columns that are in `columns`. */
export function keyObject(
  table: LoggedTable,
  columns: readonly Column[],
  pk: Sql,
  physical: CatalogTable | undefined,
): Sql {
  const places = new Map(table.key.map((column, i) => [column.name, i]));
  const shown = columns.filter((column) => places.has(column.name));
  return jsonObject(shown, (column) => keyColumn(table, places.get(column.name)!, pk), physical);
}

/**
 * SQL for whether a row still fits into a page: `n` is the number of the row in the page, from 1, and `bytes` how many
 * bytes the rows up to it have. The first row always fits, however large it is.
 */
export function isInPage(limit: number, bytesMax: number): Sql {
  return sql`n <= ${integer(limit)} AND (n = 1 OR bytes <= ${integer(bytesMax)})`;
}

/**
 * A SELECT of those rows of `from`, a table in a FROM, before which rows with at most `bytesMax` bytes come. Its columns
 * are `columns` of `from`, whose column `bytes` says how many each row has. So the first row is always among them.
 */
export function withinBytes(columns: Sql, from: Sql, order: Sql, bytesMax: number): Sql {
  const before = sql`sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - bytes`;
  return sql`SELECT ${columns} FROM (SELECT *, ${before} AS before FROM ${from}) WHERE before <= ${integer(bytesMax)}`;
}

/** The image of the row of an alias: its JSON as the log of changes writes it. */
export function image({ columns }: LoggedTable, alias: Sql): Sql {
  return { text: imageSql(columns, alias.text), params: [] };
}

/** An image with the columns that it lacks, because the table got them later, as another image has them. */
export function completed({ columns }: LoggedTable, image: Sql, other: Sql): Sql {
  return { text: completedSql(columns, image.text, other.text), params: [] };
}

/** The text of the key of an alias's row, as the log of changes writes it. */
export function key(table: LoggedTable, alias: Sql): Sql {
  return { text: keySql(table.key, alias.text), params: [] };
}

/** The name of a table as an SQL text literal. */
export function tableLiteral(table: string): Sql {
  return { text: quoteText(table), params: [] };
}

/**
 * Adapts a condition to a row that was read from an image. The columns of such a row have no affinity, so those that
 * may hold a text as a number are compared by the text that JSON shows for them.
 */
export function asShownOf(
  expression: Expression,
  source: "row" | { readonly alias: string },
  physical: CatalogTable | undefined,
): Expression {
  const mixed = physical?.mixedTexts;
  if (mixed === undefined || mixed.size === 0) return expression;
  const isIts = (of: unknown) =>
    typeof source === "string" ? of === source : typeof of === "object" && (of as typeof source).alias === source.alias;
  return substitute(expression, (reference) =>
    isIts(reference.source) && mixed.has(reference.column) ? { asShown: "text", ...reference } : reference,
  );
}

function collated(value: Sql, { collation }: LoggedColumn): Sql {
  return collation === null ? value : sql`${value} COLLATE ${physicalName(collation)}`;
}

const internal = (label: string): Sql => ({ text: `"_${label}"`, params: [] });
