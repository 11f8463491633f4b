import type { Statement } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { columnsOf, outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Counted } from "../plan/plan-check.js";
import { bind, carried, commaList, empty, integer, name, type Sql, sql } from "../sql-text/fragment.js";
import { image } from "./as-of.js";
import { shownColumn } from "./candidates.js";
import { loggedTable } from "./logged.js";
import { namesOf, predicate, type SqlNames } from "./predicate.js";
import { cutAt } from "./preview.js";
import { areExact, probe, probeColumns, probedIn, rowsProbed, seeksOf } from "./probe.js";
import { keyIs, keySeek, type Values } from "./row-key.js";
import { jsonWithin, storedBytes } from "./wire.js";

/**
 * Makes the statement that reads a row by its primary key. It returns `[admitted, json, probed]`, or no row where none
 * has the key. `admitted` is 1 where the rule is TRUE and else 0. `json` is the row, NULL where it is too large for an
 * answer; values of more than `preview` bytes are shown in it by their beginning. `probed` is how many rows were looked
 * up for the `exists` of the rule. If it `measures`, `json` is how many bytes the texts, JSON and blobs of a row have that
 * is too large.
 */
export function getStatement(
  table: Table,
  key: Values,
  rule: Expression,
  output: readonly Column[],
  catalog: Catalog,
  preview: number | null = null,
  measures = false,
): Counted<Sql> {
  const nodes = outermostExists(rule);
  const names = namesOf(catalog.tables.get(table.name));
  const t = (column: string) => name(column as Column["name"]);
  const inner: SqlNames = { ...names, row: (column) => sql`_t.${t(column)}` };
  const probes = nodes.map((node) => probe(node, inner, catalog));
  const outer: SqlNames = {
    ...names,
    row: (column) => sql`_w.${carried(column)}`,
    exists: probedIn(sql`_w`, nodes),
  };
  const columns = new Set([...output.map((column) => column.name), ...columnsOf(rule, "row"), ...table.primaryKey]);
  const list = [
    ...[...columns].map((column) => shownColumn(catalog, table, sql`_t`, carried(column))),
    ...probeColumns(probes),
  ];
  const refer = (column: Column) => sql`_w.${carried(column.name)}`;
  const cut = cutAt(preview, refer);
  const row = jsonWithin(catalog, table, output, refer, measures ? storedBytes(output, refer, cut) : sql`NULL`, cut);
  // The LIMIT keeps SQLite from merging (flattening) the subquery into the SELECT around it, so that each `exists` is
  // evaluated once. Without an `exists` there is no LIMIT, because merging saves a temporary table.
  const once = probes.length === 0 ? empty : sql` LIMIT 1`;
  const found = sql`SELECT ${commaList(list)} FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)}${once}`;
  const admitted = sql`CASE WHEN ${predicate(rule, outer)} THEN 1 ELSE 0 END`;
  const statement = sql`SELECT ${admitted} AS admitted, ${row} AS row, ${rowsProbed(probes, sql`_w`)} AS probed FROM (${found}) AS _w`;
  return {
    statement,
    asked: statement,
    exact: areExact(probes),
    seeks: [keySeek("_t", table), ...seeksOf(probes)],
  };
}

/**
 * Makes a SELECT that returns a row where a row has the key, and else none. After a write that has written nothing, it
 * decides between the answers 403 and 404.
 */
export function presenceStatement(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`SELECT 1 FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)} LIMIT 1`;
}

/**
 * Makes a SELECT for right after an update. It fails where that has changed the row with this key, and the row's image
 * now has more than `bytesMax` bytes. To fail it uses an invalid JSON path, which SQLite quotes in its message, where
 * `isTooLargeImage` finds it.
 */
export function imageCheck(table: Table, key: Values, catalog: Catalog, bytesMax: number): Sql {
  const logged = loggedTable(table, catalog.tables.get(table.name)!);
  const bytes = sql`length(CAST(${image(logged, sql`_t`)} AS BLOB))`;
  const path = sql`iif(${bytes} > ${integer(bytesMax)}, '${imageProblem}', '$')`;
  return sql`SELECT json_type('{}', ${path}) AS checked FROM ${name(table.name)} AS _t WHERE changes() > 0 AND ${keyIs(table, key, sql`_t`, catalog)}`;
}

const imageProblem: Sql = { text: "the image is too large", params: [] };

/** Whether an error's message says that a value is too large for the database, or `imageCheck` has failed. */
export function isTooLargeImage(message: string): boolean {
  return message.includes(imageProblem.text) || message.includes("string or blob too big");
}

/** Makes the statement that returns a row where the table has any. */
export function anyRow({ name: table }: Pick<Table, "name">): Statement {
  return bind(sql`SELECT 1 FROM ${name(table)} LIMIT 1`, []);
}
