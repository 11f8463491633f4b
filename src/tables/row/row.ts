import { imageBytes } from "../../changes/image.js";
import { closeTransaction, entriesIn, openTransaction } from "../../changes/transactions.js";
import { badRequest, Refusal } from "../../http/refusal.js";
import { ConstraintError, type Statement, StatementError, type Statements } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { TriggersReached } from "../../schema/triggers-reached.js";
import { type Access, deniedBy } from "../access.js";
import {
  countedRead,
  type Duration,
  type Execution,
  longWorkOf,
  read,
  type WriteExecution,
} from "../execution.js";
import { bindCounted, type Counted } from "../plan-check.js";
import { finishRows } from "../sql/finish-rows.js";
import { bind, bindSingle, Slot, type Sql } from "../sql/fragment.js";
import { type Returned, returnedRow } from "../sql/returning.js";
import {
  deleteStatement,
  getStatement,
  imageCheck,
  insertStatement,
  isTooLargeImage,
  presenceStatement,
  updateStatement,
  type WriteStatement,
} from "../sql/row.js";
import type { Values } from "../sql/row-key.js";
import { constraintRefusal } from "./constraint-refusal.js";
import { notFound, type RowValues } from "./row-request.js";

/**
 * What requests for single rows of a table use: what the caller may do with the table, and the statements that earlier
 * requests have made.
 */
export interface RowTarget {
  readonly access: Access;
  readonly reads: Memo<Counted<Sql>>;
  readonly writes: Memo<WriteStatement>;
}

/**
 * A placeholder for each column that is filled when the statement is sent (`Slot`), so that other requests can use the
 * statement with other values.
 */
function slots(values: RowValues, { table }: Access): Values {
  return new Map([...values.keys()].map((name) => [table.columns.get(name)!, new Slot(name)]));
}

/**
 * The key under which the statement of an insert or update is kept for other requests: those that write the same
 * columns share it. Null where it cannot be shared.
 */
function shapeOf({ key }: Access, values: RowValues): string | null {
  return key && `${key}\n${[...values.keys()].join()}`;
}

/**
 * Finding a row by its key is quick. The statement may take long where one of its rules has an `exists` that more than
 * a single look-up in an index has to decide.
 */
function durationOf({ exact }: Counted<Sql>): Duration {
  return exact ? "short" : "long";
}

const tooLarge = badRequest("the row is too large for an answer: list it with fewer columns");

/**
 * Reads a row by its key. Returns it as JSON text, or a refusal: 403, 404, or 400 for a row that is too large for an
 * answer.
 */
export async function getRow(
  { access, reads }: RowTarget,
  execution: Execution,
  key: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  const output = [...access.readable.values()];
  const get = reads.get(access.key, () => getStatement(table, slots(key, access), rule, output, catalog));
  const counted = countedRead(execution, get, [execution.values, key]);
  const results = await read(execution, counted.statements, durationOf(get));
  const isExact = counted.isExact(results);
  const row = results[0]!.rows[0];
  if (row === undefined) {
    execution.tally.add(0);
    return notFound;
  }
  const [admitted, json, probed] = row;
  execution.tally.add(isExact ? 1 + (probed as number) : null);
  if (admitted !== 1) return deniedBy(table, "read");
  return json === null ? tooLarge : finishRows(json as string, output);
}

/** Creates a row. Returns it as JSON text with the columns that the caller may see, or why it was not created. */
export async function createRow(
  { access, writes }: RowTarget,
  execution: WriteExecution,
  values: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  if (isOverImage(values, access)) return tooLargeImage;
  const insert = writes.get(shapeOf(access, values), () =>
    insertStatement(table, slots(values, access), rule, returnedOf(access, values), catalog),
  );
  return rowAfter({ kind: "insert", statement: insert, values: [values] }, access, execution);
}

/** Changes a row. Returns it as JSON text with the columns that the caller may see, or why it was not changed. */
export async function updateRow(
  { access, writes }: RowTarget,
  execution: WriteExecution,
  key: RowValues,
  patch: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  if (isOverImage(patch, access)) return tooLargeImage;
  const update = writes.get(shapeOf(access, patch), () => {
    const returned = returnedOf(access, patch);
    return updateStatement(table, slots(key, access), slots(patch, access), rule, returned, catalog);
  });
  const { imageBytesMax } = catalog;
  const checks =
    imageBytesMax !== null && needsImageCheck(patch, access)
      ? [imageCheck(table, slots(key, access), catalog, imageBytesMax)]
      : [];
  return rowAfter({ kind: "update", statement: update, values: [key, patch], checks }, access, execution);
}

/**
 * Whether the values of a write alone make an image that the log cannot hold. The row could be written, but neither
 * changed nor deleted afterwards.
 */
function isOverImage(values: RowValues, { table, catalog }: Access): boolean {
  const { imageBytesMax } = catalog;
  return table.historyDays !== null && imageBytesMax !== null && imageBytes(values.values()) > imageBytesMax;
}

/**
 * Whether an update may make the row's image too large together with the columns that it leaves as they are. Not those
 * whose values have a hundredth of what is left between the bound and what the database takes: the 100 columns that a row
 * may have cannot pass it so.
 */
function needsImageCheck(patch: RowValues, { table }: Access): boolean {
  return table.historyDays !== null && imageBytes(patch.values()) > 1_000;
}

const tooLargeImage = new Refusal(
  "payload_too_large",
  "the row would be too large for the log of changes: its values as JSON, blobs twice as long",
);

/** Deletes a row. Returns its primary key as JSON text, or why it was not deleted. */
export async function deleteRow(
  { access, writes }: RowTarget,
  execution: WriteExecution,
  key: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  const statement = writes.get(access.key, () => deleteStatement(table, slots(key, access), rule, catalog));
  return rowAfter({ kind: "delete", statement, values: [key] }, access, execution);
}

async function rowAfter(
  write: RowWrite,
  access: Access,
  execution: WriteExecution,
): Promise<string | Refusal> {
  const outcome = await carryOut(write, access, execution);
  switch (outcome.outcome) {
    case "written":
      return outcome.json;
    case "refused":
      return outcome.refusal;
    case "not_written":
      return write.kind === "insert"
        ? deniedBy(access.table, "create")
        : deniedOrMissing(access, execution, write.values[0]!, write.kind, outcome.isThere);
  }
}

/** A write to carry out: its statement, which also tests the rule, and the values of the request. */
interface RowWrite {
  readonly kind: "insert" | "update" | "delete";
  readonly statement: WriteStatement;
  /** Of an insert the values to write, of a delete the key, of an update the key and then the values to write. */
  readonly values: readonly RowValues[];
  /** Statements that fail where the write must not stand. They come directly after it. */
  readonly checks?: readonly Sql[];
}

type RowWriteOutcome =
  | { readonly outcome: "written"; readonly json: string }
  /**
   * The rule denies the write, or there is no such row. `isThere`: it is known that the row exists (or is to be
   * inserted), so the rule denies.
   */
  | { readonly outcome: "not_written"; readonly isThere: boolean }
  | { readonly outcome: "refused"; readonly refusal: Refusal };

const refused = (refusal: Refusal): RowWriteOutcome => ({ outcome: "refused", refusal });

async function carryOut(
  write: RowWrite,
  access: Access,
  execution: WriteExecution,
): Promise<RowWriteOutcome> {
  const { kind, statement } = write;
  const { database, tally, plans, nowMs } = execution;
  const { table, catalog } = access;
  const physical = catalog.tables.get(table.name)!;
  const triggers = physical.triggers[kind];
  // How many rows the write itself reads: an update or a delete the row that it looks up by its key, an insert none.
  const own = kind === "insert" ? 0 : 1;
  const { probes } = statement;
  const values = [execution.values, ...write.values];
  const bound = bindCounted(statement, values);
  try {
    const before = probes === null ? [] : [bindSingle(probes, values)];
    const question = plans.questionOf(bound, nowMs);
    const [open, close] = triggers.logged
      ? [[openTransaction(execution.changedBy())], closeTransaction]
      : [[], []];
    const checks = (write.checks ?? []).map((check) => bind(check, values));
    const statements = [...before, ...open, bound.statement, ...checks, ...close, ...question.statements];
    const duration = triggers.elsewhere ? "long" : durationOf(statement);
    const results = await tally.during(database.batch(statements, longWorkOf(execution, duration)));
    const exact = question.isExact(results);
    const probed = probes === null ? undefined : (results[0]!.rows[0]?.[0] as number | undefined);
    const written = before.length + open.length;
    const { rows, rowsWritten } = results[written]!;
    const entries = triggers.logged ? entriesIn(results[written + checks.length + close.length]!) : 0;
    if (rows.length === 0 && triggers.ignore) {
      const [admitted] = await read(execution, [bind(statement.admitted, values)], durationOf(statement));
      if (admitted!.rows.length > 0) {
        tally.add(null);
        return refused(ignored);
      }
    }
    if (rows.length === 0) {
      const isThere = kind === "insert" || probed !== undefined;
      if (isThere) tally.add(exact ? own + (probed ?? 0) : null);
      return { outcome: "not_written", isThere };
    }
    const returned = returnedRow(rows[0]![0] as string);
    // How many rows a trigger of the project's owner reads cannot be known.
    const isKnown = exact && !triggers.read;
    tally.add(
      isKnown ? own + (probed ?? 0) + returned.probed : null,
      logicalRows(triggers, rowsWritten - entries),
    );
    return { outcome: "written", json: finishRows(returned.json, [...table.columns.values()]) };
  } catch (error) {
    if (error instanceof StatementError && error.message.includes("too many levels of trigger recursion")) {
      tally.add(null);
      return refused(tooLongAChain);
    }
    if (error instanceof StatementError && isTooLargeImage(error.message)) {
      tally.add(null);
      return refused(table.historyDays === null ? tooLargeRow : tooLargeImage);
    }
    if (
      error instanceof StatementError &&
      physical.hasOwnersSql &&
      (await isSound(database, bound.statement))
    ) {
      // How many rows the failed statement had read until then is not known.
      tally.add(null);
      return refused(notEvaluated);
    }
    if (!(error instanceof ConstraintError)) throw error;
    // The write was rolled back, so it cannot report how many rows it had read. The number is known only where the
    // write looks up nothing but the row itself: no trigger runs, and neither its rule nor the read rule has an
    // `exists`. (The read rule is evaluated before a broken foreign key is found.)
    const isOwn = probes === null && statement.seeks.every(({ alias }) => alias === table.name);
    tally.add(isOwn && statement.exact && !triggers.run ? own : null);
    const written = write.values.at(-1)!;
    return refused(constraintRefusal(error, { kind, table, physical, written, readable: access.readable }));
  }
}

/** SQLite counts foreign key actions as triggers. How many levels deep they may go differs between backends. */
const tooLongAChain = badRequest(
  "this leads to too many changes of other rows, each by the one before, as references and triggers do: begin nearer to the end of the chain",
);

const tooLargeRow = new Refusal(
  "payload_too_large",
  "a value, or the row, is larger than the database takes",
);

const notEvaluated = badRequest(
  "SQL of the table, such as a check or a trigger, cannot be evaluated with these values",
);

/**
 * Whether SQLite can compile a statement that failed. Then it failed because of its values, and only the owner's SQL
 * (a check, a default, a trigger) can fail because of values.
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

/**
 * `rows_written` of a write, from SQLite's count. SQLite also counts the rows of shadow tables behind a virtual table
 * that a trigger writes to, and those that the server's own triggers write, which are both left out. Null where that
 * is not possible.
 */
function logicalRows({ rowsWritten, virtualRows, own }: TriggersReached, counted: number): number | null {
  if (virtualRows === "none" && !own) return counted;
  if (rowsWritten === null) return null;
  const certain = 1 + rowsWritten;
  if (virtualRows !== "one_more") return certain;
  // Rows that the server's own triggers wrote cannot be told from the one more row that an owner's trigger may have
  // written.
  if (own) return null;
  return counted > certain ? certain + 1 : certain;
}

/**
 * The refusal of a change to a row that was not written: 403 where the row exists, 404 where it does not. Where it is
 * not known yet whether it exists, one more statement looks.
 */
async function deniedOrMissing(
  access: Access,
  execution: Execution,
  key: RowValues,
  action: "update" | "delete",
  isThere: boolean,
): Promise<Refusal> {
  if (isThere) {
    // The statement that counted the look-ups for the rule has read the row: that is one row read.
    execution.tally.add(1);
    return deniedBy(access.table, action);
  }
  const presence = presenceStatement(access.table, slots(key, access), access.catalog);
  const [result] = await read(execution, [bind(presence, [key])], "short");
  const found = result!.rows.length > 0;
  // The statement of the write has read the row once, and this statement once more.
  execution.tally.add(found ? 2 : 0);
  return found ? deniedBy(access.table, action) : notFound;
}

/**
 * What a write returns: the row where the read rule admits it, else its primary key; to a write-only API key also the
 * columns that it sent (`docs/reference/rules.md#what-a-write-returns`).
 */
function returnedOf(access: Access, values: RowValues): Returned {
  const { columns, primaryKey } = access.table;
  const sent = access.writeOnlyKey ? [...values.keys()] : [];
  const minimal = [...new Set([...primaryKey, ...sent])].map((name) => columns.get(name)!);
  return { rule: access.readRule, full: [...access.readable.values()], minimal };
}
