import type { Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog } from "../../schema/catalog.js";
import { and, type Sql, sql } from "../sql-text/fragment.js";
import { aborting, readableBy } from "./write-statement.js";

/** The condition that the statement right before has itself written no row. */
const changedNone = sql`changes() = 0`;

/** Makes the condition that a row exists that `from` finds (`rowWith`). */
export function isThereWith(from: Sql): Sql {
  return sql`EXISTS (SELECT 1 ${from})`;
}

/** Makes the condition that a row of the table exists that `from` finds, and that the rule for reading admits it. */
export function isReadableWith(from: Sql, table: Table, readRule: Expression, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${from} AND ${readableBy(table, readRule, catalog)})`;
}

/**
 * Makes a SELECT for right after the update of an upsert, whose row may be missing. It undoes the batch where the
 * row exists and yet was not changed, with the reason `denied`, or `ignored` where a trigger has prevented it.
 */
export function changedOrMissing(isThere: Sql, admitted: Sql): Sql {
  const reason = sql`iif(EXISTS (${admitted}), 'ignored', 'denied')`;
  const isUnchanged = and([changedNone, isThere]);
  return sql`SELECT CASE WHEN ${isUnchanged} THEN ${aborting(reason)} ELSE 1 END AS held`;
}

/**
 * Makes a SELECT for right after the insert of an upsert. It undoes the batch where nothing was inserted and the row
 * does not exist: a trigger has ignored the insert.
 */
export function insertedOrThere(isThere: Sql): Sql {
  const isIgnored = sql`${changedNone} AND NOT ${isThere}`;
  return sql`SELECT CASE WHEN ${isIgnored} THEN ${aborting(sql`'ignored'`)} ELSE 1 END AS held`;
}
