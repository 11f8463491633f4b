import type { Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog } from "../../schema/catalog.js";
import { and, type Sql, sql } from "../sql-text/fragment.js";
import { rowWith, type Values } from "./row-key.js";
import { aborting, readableBy } from "./write-statement.js";

/** The condition that the statement right before has itself written no row. */
const changedNone = sql`changes() = 0`;

/** Makes the condition that a row exists with these values in its primary key or in a unique constraint. */
export function isThereWith(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${rowWith(table, key, catalog)})`;
}

/** Makes the condition that a row exists with these values (`isThereWith`) and the rule for reading admits it. */
export function isReadableWith(table: Table, key: Values, readRule: Expression, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${rowWith(table, key, catalog)} AND ${readableBy(table, readRule, catalog)})`;
}

/**
 * Makes a SELECT for right after the update of an upsert, whose row may be missing. It undoes the batch where a row has
 * this key and yet was not changed, with the reason `denied`, or `ignored` where a trigger has prevented it.
 */
export function changedOrMissing(table: Table, key: Values, admitted: Sql, catalog: Catalog): Sql {
  const reason = sql`iif(EXISTS (${admitted}), 'ignored', 'denied')`;
  const isUnchanged = and([changedNone, isThereWith(table, key, catalog)]);
  return sql`SELECT CASE WHEN ${isUnchanged} THEN ${aborting(reason)} ELSE 1 END AS held`;
}

/**
 * Makes a SELECT for right after the insert of an upsert. It undoes the batch where nothing was inserted and no row has
 * this key: a trigger has ignored the insert.
 */
export function insertedOrThere(table: Table, key: Values, catalog: Catalog): Sql {
  const isIgnored = sql`${changedNone} AND NOT ${isThereWith(table, key, catalog)}`;
  return sql`SELECT CASE WHEN ${isIgnored} THEN ${aborting(sql`'ignored'`)} ELSE 1 END AS held`;
}
