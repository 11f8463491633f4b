import { badRequest, type Refusal } from "../../http/refusal.js";
import { ConstraintError, type Statement, StatementError, type Statements } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import type { TriggersReached } from "../../schema/triggers-reached.js";
import { type Access, denied } from "../access.js";
import { type Execution, read, readCounted } from "../execution.js";
import { bindCounted, type Counted } from "../plan-check.js";
import { finishRows } from "../sql/finish-rows.js";
import { bind, bindSingle, Slot, type Sql } from "../sql/fragment.js";
import { type Returned, returnedRow } from "../sql/returning.js";
import {
  deleteStatement,
  getStatement,
  insertStatement,
  presenceStatement,
  updateStatement,
  type WriteStatement,
} from "../sql/row.js";
import type { Values } from "../sql/row-key.js";
import { constraintRefusal } from "./constraint-refusal.js";
import { notFound, type RowValues } from "./row-request.js";

/** A row's table and what its caller may do there, and the statements that were made before. */
export interface RowTarget {
  readonly access: Access;
  readonly reads: Memo<Counted<Sql>>;
  readonly writes: Memo<WriteStatement>;
}

/** What a request says of columns, as places for its values. */
function slots(values: RowValues, { table }: Access): Values {
  return new Map([...values.keys()].map((name) => [table.columns.get(name)!, new Slot(name)]));
}

/** Requests that write the same columns differ in given values alone. */
function shapeOf({ key }: Access, values: RowValues): string | null {
  return key && `${key}\n${[...values.keys()].join()}`;
}

const tooLarge = badRequest("the row is too large for an answer: list it with fewer columns");

/** The row as JSON text. */
export async function getRow(
  { access, reads }: RowTarget,
  execution: Execution,
  key: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  const output = [...access.readable.values()];
  const get = reads.get(access.key, () => getStatement(table, slots(key, access), rule, output, catalog));
  const { result, isExact } = await readCounted(execution, get, [execution.values, key]);
  const row = result.rows[0];
  if (row === undefined) {
    execution.tally.add(0);
    return notFound;
  }
  const [admitted, json, probed] = row;
  execution.tally.add(isExact ? 1 + (probed as number) : null);
  if (admitted !== 1) return denied;
  return json === null ? tooLarge : finishRows(json as string, output);
}

/** The new row as JSON text, as far as its writer may see it. */
export async function createRow(
  { access, writes }: RowTarget,
  execution: Execution,
  values: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  const insert = writes.get(shapeOf(access, values), () =>
    insertStatement(table, slots(values, access), rule, returnedOf(access, values), catalog),
  );
  return rowAfter({ kind: "insert", statement: insert, values: [values] }, access, execution);
}

/** The changed row as JSON text, as far as its writer may see it. */
export async function updateRow(
  { access, writes }: RowTarget,
  execution: Execution,
  key: RowValues,
  patch: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  const update = writes.get(shapeOf(access, patch), () => {
    const returned = returnedOf(access, patch);
    return updateStatement(table, slots(key, access), slots(patch, access), rule, returned, catalog);
  });
  return rowAfter({ kind: "update", statement: update, values: [key, patch] }, access, execution);
}

/** The key of the row that is gone, as JSON text. */
export async function deleteRow(
  { access, writes }: RowTarget,
  execution: Execution,
  key: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule } = access;
  const statement = writes.get(access.key, () => deleteStatement(table, slots(key, access), rule, catalog));
  return rowAfter({ kind: "delete", statement, values: [key] }, access, execution);
}

async function rowAfter(write: RowWrite, access: Access, execution: Execution): Promise<string | Refusal> {
  const outcome = await carryOut(write, access, execution);
  switch (outcome.outcome) {
    case "written":
      return outcome.json;
    case "refused":
      return outcome.refusal;
    case "not_written":
      return write.kind === "insert"
        ? denied
        : deniedOrMissing(access, execution, write.values[0]!, outcome.isThere);
  }
}

/** One guarded statement, and what the request gives it. */
interface RowWrite {
  readonly kind: "insert" | "update" | "delete";
  readonly statement: WriteStatement;
  /** The key, but of an insert, and what is written, but of a delete. */
  readonly values: readonly RowValues[];
}

type RowWriteOutcome =
  | { readonly outcome: "written"; readonly json: string }
  /** The rule said no, or there is no such row: `isThere` where the rule's probes have found one to judge. */
  | { readonly outcome: "not_written"; readonly isThere: boolean }
  | { readonly outcome: "refused"; readonly refusal: Refusal };

const refused = (refusal: Refusal): RowWriteOutcome => ({ outcome: "refused", refusal });

async function carryOut(write: RowWrite, access: Access, execution: Execution): Promise<RowWriteOutcome> {
  const { kind, statement } = write;
  const { database, tally, plans, nowMs } = execution;
  const { table, catalog } = access;
  const physical = catalog.tables.get(table.name)!;
  const triggers = physical.triggers[kind];
  // An insert visits no row of its table; the others the one that they look up.
  const own = kind === "insert" ? 0 : 1;
  const { probes } = statement;
  const values = [execution.values, ...write.values];
  const bound = bindCounted(statement, values);
  try {
    const before = probes === null ? [] : [bindSingle(probes, values)];
    const question = plans.questionOf(bound, nowMs);
    const results = await tally.during(database.batch([...before, bound.statement, ...question.statements]));
    const exact = question.isExact(results);
    const probed = probes === null ? undefined : (results[0]!.rows[0]?.[0] as number | undefined);
    const { rows, rowsWritten } = results[before.length]!;
    if (rows.length === 0 && triggers.ignore) {
      const [admitted] = await read(execution, [bind(statement.admitted, values)]);
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
    // What a customer's trigger reads is seen by nobody.
    const isKnown = exact && !triggers.read;
    tally.add(isKnown ? own + (probed ?? 0) + returned.probed : null, logicalRows(triggers, rowsWritten));
    return { outcome: "written", json: finishRows(returned.json, [...table.columns.values()]) };
  } catch (error) {
    if (error instanceof StatementError && error.message.includes("too many levels of trigger recursion")) {
      tally.add(null);
      return refused(tooLongAChain);
    }
    if (
      error instanceof StatementError &&
      physical.hasOwnersSql &&
      (await isSound(database, bound.statement))
    ) {
      // What it had read until then nobody knows.
      tally.add(null);
      return refused(notEvaluated);
    }
    if (!(error instanceof ConstraintError)) throw error;
    // It was rolled back, and what it had read until then it cannot say, unless there was nothing but the row itself:
    // what a foreign key refuses has been read back by then.
    const isOwn = probes === null && statement.seeks.every(({ alias }) => alias === table.name);
    tally.add(isOwn && statement.exact && !triggers.run ? own : null);
    const written = write.values.at(-1)!;
    return refused(constraintRefusal(error, { kind, table, physical, written, readable: access.readable }));
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
  access: Access,
  execution: Execution,
  key: RowValues,
  isThere: boolean,
): Promise<Refusal> {
  if (isThere) {
    // The probes have looked the row up.
    execution.tally.add(1);
    return denied;
  }
  const presence = presenceStatement(access.table, slots(key, access), access.catalog);
  const [result] = await read(execution, [bind(presence, [key])]);
  const found = result!.rows.length > 0;
  // Once by the write itself, and once more to tell the two apart.
  execution.tally.add(found ? 2 : 0);
  return found ? denied : notFound;
}

/** Interface, section 4: who may not read what they wrote gets the key; a write-only key also what it sent. */
function returnedOf(access: Access, values: RowValues): Returned {
  const { columns, primaryKey } = access.table;
  const sent = access.writeOnlyKey ? [...values.keys()] : [];
  const minimal = [...new Set([...primaryKey, ...sent])].map((name) => columns.get(name)!);
  return { rule: access.readRule, full: [...access.readable.values()], minimal };
}
