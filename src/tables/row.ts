import { badRequest, Refusal } from "../http/refusal.js";
import { ConstraintError, type Database } from "../platform/database.js";
import type { Column, Table } from "../project/model.js";
import type { Catalog } from "../schema/catalog.js";
import { type Access, denied } from "./access.js";
import { constraintRefusal } from "./constraint-refusal.js";
import { finishRows } from "./rows.js";
import {
  deleteStatement,
  getStatement,
  insertStatement,
  presenceStatement,
  type Returned,
  type RowStatement,
  updateStatement,
  type Values,
} from "./sql/row.js";

/** One row as JSON text, and what it cost. Null is unknown. */
export interface RowOutcome {
  readonly data: string;
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
}

export interface RowContext {
  readonly database: Database;
  readonly table: Table;
  readonly access: Access;
  readonly catalog: Catalog;
}

const tooLarge = badRequest("the row is too large for an answer: list it with fewer columns");

const notFound = new Refusal("not_found", "no such row");

export async function getRow(context: RowContext, key: Values): Promise<RowOutcome | Refusal> {
  const { database, table, access, catalog } = context;
  const output = [...access.readable.values()];
  const { statement, exact } = getStatement(table, key, access.rule, output, catalog);
  const [result] = await database.query([statement]);
  const row = result!.rows[0];
  if (row === undefined) return notFound;
  const [json, admitted, probed] = row;
  if (admitted !== 1) return denied;
  if (json === null) return tooLarge;
  const rowsRead = exact ? 1 + (probed as number) : null;
  return { data: finishRows(json as string, output), rowsRead, rowsWritten: 0 };
}

export async function createRow(context: RowContext, values: Values): Promise<RowOutcome | Refusal> {
  const { table, access, catalog } = context;
  const returned = returnedOf(context, values);
  const insert = insertStatement(table, values, access.rule, returned, catalog);
  const written = await write(context, insert, 0, catalog.tables.get(table.name)!.triggers.insert);
  return written ?? denied;
}

export async function updateRow(
  context: RowContext,
  key: Values,
  patch: Values,
): Promise<RowOutcome | Refusal> {
  const { table, access, catalog } = context;
  const update = updateStatement(table, key, patch, access, returnedOf(context, patch), catalog);
  const written = await write(context, update, 1, catalog.tables.get(table.name)!.triggers.update);
  return written ?? deniedOrMissing(context, key);
}

export async function deleteRow(context: RowContext, key: Values): Promise<RowOutcome | Refusal> {
  const { table, access, catalog } = context;
  const remove = deleteStatement(table, key, access.rule);
  const written = await write(context, remove, 1, catalog.tables.get(table.name)!.triggers.delete);
  return written ?? deniedOrMissing(context, key);
}

/** Null where no row came back: the rule said no, or there is no such row. */
async function write(
  { database, table, access, catalog }: RowContext,
  { statement, exact }: RowStatement,
  visits: number,
  triggers: boolean,
): Promise<RowOutcome | Refusal | null> {
  try {
    const [result] = await database.batch([statement]);
    const row = result!.rows[0];
    if (row === undefined) return null;
    return {
      data: finishRows(row[0] as string, [...table.columns.values()]),
      // What a customer's trigger reads is seen by nobody.
      rowsRead: exact && !triggers ? visits : null,
      // Nor can anybody tell the shadow rows of a virtual table that a trigger writes from others.
      rowsWritten: triggers && catalog.hasVirtualTables ? null : result!.rowsWritten,
    };
  } catch (error) {
    if (error instanceof ConstraintError) return constraintRefusal(error, table.name, access.readable);
    throw error;
  }
}

async function deniedOrMissing({ database, table }: RowContext, key: Values): Promise<Refusal> {
  const [result] = await database.query([presenceStatement(table, key)]);
  return result!.rows.length === 0 ? notFound : denied;
}

/** Interface, section 4: who may not read what they wrote gets the key; a write-only key also what it sent. */
function returnedOf({ table, access }: RowContext, values: Values): Returned {
  const key = table.primaryKey.map((column) => table.columns.get(column)!);
  const sent = access.writeOnlyKey ? [...values.keys()] : [];
  const minimal: Column[] = [...new Set([...key, ...sent])];
  return { rule: access.readRule, full: [...access.readable.values()], minimal };
}
