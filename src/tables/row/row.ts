import { badRequest, Refusal } from "../../http/refusal.js";
import type { Tally } from "../../metering/tally.js";
import {
  ConstraintError,
  type SqlValue,
  type Statement,
  StatementError,
  type Statements,
} from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { Column, Table } from "../../project/model.js";
import type { Catalog } from "../../schema/catalog.js";
import type { TriggersReached } from "../../schema/triggers-reached.js";
import { type Access, denied } from "../access.js";
import { bindCounted, type Counted, type PlanChecks } from "../plan-check.js";
import { finishRows } from "../sql/finish-rows.js";
import { bind, bindSingle, type GivenValues, Slot, type Sql } from "../sql/fragment.js";
import {
  deleteStatement,
  getStatement,
  insertStatement,
  presenceStatement,
  type Returned,
  returnedRow,
  updateStatement,
  type Values,
  type WriteStatement,
} from "../sql/row.js";
import { constraintRefusal } from "./constraint-refusal.js";

export interface RowContext {
  readonly database: Statements;
  readonly table: Table;
  readonly access: Access;
  readonly catalog: Catalog;
  readonly tally: Tally;
  readonly plans: Pick<PlanChecks, "questionOf">;
  readonly reads: Memo<Counted<Sql>>;
  readonly writes: Memo<WriteStatement>;
  /** Who calls, and when. */
  readonly given: GivenValues;
  readonly nowMs: number;
}

/** Columns and what a request says of them. */
export type RowValues = ReadonlyMap<Column, SqlValue>;

function slots(values: RowValues): Values {
  return new Map([...values.keys()].map((column) => [column, new Slot(column)]));
}

/** Requests that write the same columns differ in given values alone. */
function shapeOf({ key }: Access, values: RowValues): string | null {
  return key && `${key}\n${[...values.keys()].map(({ name }) => name).join()}`;
}

const tooLarge = badRequest("the row is too large for an answer: list it with fewer columns");

export const notFound = new Refusal("not_found", "no such row");

/** The row as JSON text. */
export async function getRow(context: RowContext, key: RowValues): Promise<string | Refusal> {
  const { database, table, access, catalog, tally, plans, reads, given, nowMs } = context;
  const output = [...access.readable.values()];
  const get = reads.get(access.key, () => getStatement(table, slots(key), access.rule, output, catalog));
  const bound = bindCounted(get, [given, key], bindSingle);
  const question = plans.questionOf(bound, nowMs);
  const results = await tally.during(database.query([bound.statement, ...question.statements]));
  const exact = question.isExact(results);
  const row = results[0]!.rows[0];
  if (row === undefined) {
    tally.add(0);
    return notFound;
  }
  const [admitted, json, probed] = row;
  tally.add(exact ? 1 + (probed as number) : null);
  if (admitted !== 1) return denied;
  return json === null ? tooLarge : finishRows(json as string, output);
}

export async function createRow(context: RowContext, values: RowValues): Promise<string | Refusal> {
  const { table, access, catalog, writes } = context;
  const insert = writes.get(shapeOf(access, values), () =>
    insertStatement(table, slots(values), access.rule, returnedOf(context, values), catalog),
  );
  const written = await write(context, insert, [values], "insert");
  return typeof written === "boolean" ? denied : written;
}

export async function updateRow(
  context: RowContext,
  key: RowValues,
  patch: RowValues,
): Promise<string | Refusal> {
  const { table, access, catalog, writes } = context;
  const update = writes.get(shapeOf(access, patch), () => {
    const returned = returnedOf(context, patch);
    return updateStatement(table, slots(key), slots(patch), access.rule, returned, catalog);
  });
  const written = await write(context, update, [key, patch], "update");
  return typeof written === "boolean" ? deniedOrMissing(context, key, written) : written;
}

export async function deleteRow(context: RowContext, key: RowValues): Promise<string | Refusal> {
  const { table, access, catalog, writes } = context;
  const statement = writes.get(access.key, () => deleteStatement(table, slots(key), access.rule, catalog));
  const written = await write(context, statement, [key], "delete");
  return typeof written === "boolean" ? deniedOrMissing(context, key, written) : written;
}

/**
 * Where no row came back, as the rule said no or there is no such row: whether the rule's probes, if it has any, have found
 * a row to judge.
 */
async function write(
  { database, table, access, catalog, tally, plans, given, nowMs }: RowContext,
  statement: WriteStatement,
  rows: readonly RowValues[],
  kind: "insert" | "update" | "delete",
): Promise<string | Refusal | boolean> {
  const physical = catalog.tables.get(table.name)!;
  const triggers = physical.triggers[kind];
  // An insert visits no row of its table; the others the one that they look up.
  const own = kind === "insert" ? 0 : 1;
  const { probes } = statement;
  const all = [given, ...rows];
  const bound = bindCounted(statement, all);
  try {
    const before = probes === null ? [] : [bindSingle(probes, all)];
    const question = plans.questionOf(bound, nowMs);
    const results = await tally.during(database.batch([...before, bound.statement, ...question.statements]));
    const exact = question.isExact(results);
    const probed = probes === null ? undefined : (results[0]!.rows[0]?.[0] as number | undefined);
    const { rows, rowsWritten } = results[before.length]!;
    if (rows.length === 0 && triggers.ignore) {
      const [admitted] = await tally.during(database.query([bind(statement.admitted, all)]));
      if (admitted!.rows.length > 0) {
        tally.add(null);
        return ignored;
      }
    }
    if (rows.length === 0) {
      const judged = kind === "insert" || probed !== undefined;
      if (judged) tally.add(exact ? own + (probed ?? 0) : null);
      return judged;
    }
    const returned = returnedRow(rows[0]![0] as string);
    // What a customer's trigger reads is seen by nobody.
    const isKnown = exact && !triggers.read;
    tally.add(isKnown ? own + (probed ?? 0) + returned.probed : null, logicalRows(triggers, rowsWritten));
    return finishRows(returned.json, [...table.columns.values()]);
  } catch (error) {
    if (error instanceof StatementError && error.message.includes("too many levels of trigger recursion")) {
      tally.add(null);
      return tooLongAChain;
    }
    if (
      error instanceof StatementError &&
      physical.hasOwnersSql &&
      (await isSound(database, bound.statement))
    ) {
      // What it had read until then nobody knows.
      tally.add(null);
      return notEvaluated;
    }
    if (!(error instanceof ConstraintError)) throw error;
    // It was rolled back, and what it had read until then it cannot say, unless there was nothing but the row itself:
    // what a foreign key refuses has been read back by then.
    const isOwn = probes === null && statement.seeks.every(({ alias }) => alias === table.name);
    tally.add(isOwn && statement.exact && !triggers.run ? own : null);
    return constraintRefusal(error, {
      kind,
      table,
      physical,
      written: rows.at(-1)!,
      readable: access.readable,
    });
  }
}

/** SQLite counts foreign key actions as triggers. How many it takes is each backend's own. */
const tooLongAChain = badRequest(
  "this leads to too many changes of other rows, each by the one before, as references and triggers do: begin nearer to the end of the chain",
);

const notEvaluated = badRequest(
  "SQL of the table, such as a check or a trigger, cannot be evaluated with these values",
);

/**
 * Whether SQLite can carry out the statement at all: then it has failed over the values, which nothing but the owner's
 * SQL takes exception to.
 */
async function isSound(database: Statements, { sql, params }: Statement): Promise<boolean> {
  try {
    await database.query([{ sql: `EXPLAIN ${sql}`, params }]);
    return true;
  } catch (error) {
    if (error instanceof StatementError) return false;
    throw error;
  }
}

const ignored = badRequest("a trigger of the table ignores this");

/** Of SQLite's count, which has the shadow rows of virtual tables that triggers write. */
function logicalRows({ rowsWritten, virtualRows, own }: TriggersReached, counted: number): number | null {
  if (virtualRows === "none" && !own) return counted;
  if (rowsWritten === null) return null;
  const certain = 1 + rowsWritten;
  if (virtualRows !== "one_more") return certain;
  // What the service's own triggers write hides whether there is one more.
  if (own) return null;
  return counted > certain ? certain + 1 : certain;
}

/** `isThere` where a probe has found it already. */
async function deniedOrMissing(
  { database, table, catalog, tally }: RowContext,
  key: RowValues,
  isThere: boolean,
): Promise<Refusal> {
  if (isThere) {
    // The probes have looked the row up.
    tally.add(1);
    return denied;
  }
  const [result] = await tally.during(database.query([bind(presenceStatement(table, key, catalog), [])]));
  const found = result!.rows.length > 0;
  // Once by the write itself, and once more to tell the two apart.
  tally.add(found ? 2 : 0);
  return found ? denied : notFound;
}

/** Interface, section 4: who may not read what they wrote gets the key; a write-only key also what it sent. */
function returnedOf({ table, access }: RowContext, values: RowValues): Returned {
  const key = table.primaryKey.map((column) => table.columns.get(column)!);
  const sent = access.writeOnlyKey ? [...values.keys()] : [];
  const minimal: Column[] = [...new Set([...key, ...sent])];
  return { rule: access.readRule, full: [...access.readable.values()], minimal };
}
