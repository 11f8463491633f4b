import { badRequest, type Refusal } from "../../http/refusal.js";
import type { SqlValue, Statement } from "../../platform/database.js";
import type { Column } from "../../project/model.js";
import { alwaysTrue } from "../../rules/fold.js";
import { existsIn } from "../../rules/walk.js";
import { type Access, deniedBy } from "../access/access.js";
import type { WriteExecution } from "../execution/execution.js";
import { bindCounted } from "../plan/plan-check.js";
import { keyExpected, missingKey, type RowValues } from "../request/row-request.js";
import { withManaged } from "../row/managed-values.js";
import { ignored } from "../row/refused-write.js";
import {
  imageChecks,
  isOverImage,
  type RowWrite,
  returnedOf,
  slots,
  tooLargeImage,
  type WriteTarget,
  writtenSlots,
} from "../row/row-write.js";
import { durationOf, sentWrite, triggersOf } from "../row/sent-write.js";
import { updateStatement } from "../sql/change.js";
import { insertStatement, type Unless } from "../sql/insert.js";
import { type AnswerSource, stageIsThere, wasThere } from "../sql/kept-answers.js";
import { getStatement } from "../sql/row.js";
import { rowWith } from "../sql/row-key.js";
import { changedOrMissing, insertedOrThere, isReadableWith, isThereWith } from "../sql/upsert.js";
import { bind, type SlotValues, type Sql, sql } from "../sql-text/fragment.js";
import { type NotStanding, outcomeOf, type StepAnswer, type WriteStep } from "./step.js";

/** How a request wants rows to be created that may exist already (docs/reference/http.md#upsert). */
export interface Upsert {
  /** The columns by whose values an existing row is recognised: those of the primary key or of a unique constraint. */
  readonly columns: readonly Column[];
  /** What to do with a row that exists already: change it as the request says, or leave it as it is. */
  readonly onDuplicate: "update" | "ignore";
}

/**
 * Reads the parameters `on_conflict` and `on_duplicate`, which a request gives both or not at all; null without them.
 * Refuses columns that are not those of the primary key or of a unique constraint. The caller has to be able to read
 * these columns, because the answer reveals which rows exist.
 */
export function parseUpsert(parameters: ReadonlyMap<string, string>, access: Access): Upsert | Refusal | null {
  const { table, readable, catalog } = access;
  const conflict = parameters.get("on_conflict");
  const duplicate = parameters.get("on_duplicate");
  if (conflict === undefined && duplicate === undefined) return null;
  if (conflict === undefined || duplicate === undefined)
    return badRequest("on_conflict and on_duplicate come together");
  if (duplicate !== "update" && duplicate !== "ignore") return badRequest("on_duplicate: expected update or ignore");
  const names = conflict.split(",");
  const unknown = names.find((name) => !readable.has(name));
  if (unknown !== undefined) return badRequest(`on_conflict: unknown column ${JSON.stringify(unknown)}`);
  const physical = catalog.tables.get(table.name)!;
  const keys: readonly (readonly string[])[] = [
    table.primaryKey,
    ...table.unique,
    ...physical.indexes.filter(({ unique }) => unique).map(({ columns }) => columns.map(({ name }) => name)),
  ];
  const isKey = (key: readonly string[]) =>
    key.length === names.length && new Set(names).size === names.length && key.every((each) => names.includes(each));
  if (!keys.some(isKey))
    return badRequest("on_conflict: expected the columns of the primary key or of a unique constraint");
  return { columns: names.map((name) => table.columns.get(name)!), onDuplicate: duplicate };
}

/**
 * A text that is the same for two rows of a request if the upsert would find the same existing row for both. Null for a
 * row that has NULL or no value in one of the upsert's columns: it is inserted without looking for an existing row.
 */
export function conflictOf({ columns }: Upsert, values: RowValues): string | null {
  const given = columns.map(({ name }) => values.get(name));
  // NULL equals nothing, so such a row conflicts with no other. And a value that a default will make in the database is
  // not known here.
  return given.some((value) => value === undefined || value === null) ? null : JSON.stringify(given.map(textOf));
}

function textOf(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? `x${value.join()}` : `${typeof value} ${value}`;
}

/**
 * What an upsert needs to make its statements: for rows that are new (`create`), and for rows that exist already
 * (`update`), the caller's access and the statements of earlier requests.
 */
export interface UpsertTargets {
  readonly create: WriteTarget;
  readonly update: WriteTarget;
}

/**
 * Makes the step that creates a row, or where it exists already, changes it or leaves it as it is, as `upsert` says.
 * `values` have to contain all columns of `upsert.columns`, and none of them NULL.
 */
export function upsertStep(
  upsert: Upsert,
  targets: UpsertTargets,
  values: RowValues,
  execution: WriteExecution,
): WriteStep | Refusal {
  if (isOverImage(values, targets.create.access)) return tooLargeImage;
  return upsert.onDuplicate === "update"
    ? changeOrCreate(upsert, targets, values, execution)
    : keepOrCreate(upsert, targets.create, values, execution);
}

function changeOrCreate(
  upsert: Upsert,
  { create, update }: UpsertTargets,
  values: RowValues,
  execution: WriteExecution,
): WriteStep {
  const { access } = update;
  const { table, catalog } = access;
  const key = conflictValues(upsert, values);
  const keySlots = slots(key, access);
  const patch = patchOf(upsert, values, access, execution);
  const statement = update.writes.get(shapeOf(access, "upsert", key, patch), () =>
    updateStatement({
      table,
      key: keySlots,
      patch: writtenSlots(patch, access),
      rule: access.rule,
      returned: returnedOf(access, values),
      catalog,
    }),
  );
  const changed: RowWrite = {
    kind: "update",
    access,
    statement,
    values: [patch, key],
    sent: values,
    key,
    checks: imageChecks(patch, key, access),
    expected: null,
  };
  const from = rowWith(table, keySlots, catalog);
  const isThere = isThereWith(from);
  const created = insertUnless(
    { from, isThere, isKnown: isThere },
    `upsert ${[...key.keys()].join()}`,
    create,
    values,
    execution,
  );
  const change = sentWrite(changed, execution);
  const creation = (abort: string) => sentWrite(created, execution, abort);
  const { probes } = creation("");
  const guard = changedOrMissing(isThere, statement.admitted);
  const all = [execution.values, ...changed.values];
  return {
    statements: (abort) => [
      ...change.probes,
      ...change.statements,
      bind(guard, [new Map([["abort", abort]]), ...all]),
      ...probes,
      ...creation(abort).statements,
      ...unlessIgnored(created, key, abort),
    ],
    read: (results) => {
      const changedAt = change.probes.length;
      const probedAt = changedAt + change.statements.length + 1;
      const update = change.read(results.slice(0, changedAt), results[changedAt]!);
      if (update.row !== null) {
        const outcome = outcomeOf(changed, update, [change.bound]);
        // One more row was read. The insert that follows the update has looked for the row again, because a statement
        // does not know what the one before it has done.
        return { ...outcome, rowsRead: outcome.rowsRead === null ? null : outcome.rowsRead + 1 };
      }
      const createdAt = probedAt + probes.length;
      const insert = creation("").read(results.slice(probedAt, createdAt), results[createdAt]!);
      return outcomeOf(created, insert, [change.bound, creation("").bound]);
    },
    refused: (reason) => notUpserted(reason, created),
    writes: [changed, created],
    duration: durationOf(changed) === "short" ? durationOf(created) : "long",
    answer: keptUpsert(statement.answer, isThere, all),
    asked: [change.bound, creation("").bound],
  };
}

/**
 * Returns the values that an upsert sets in a row that exists already: those given for it but for the primary key and
 * the columns by which the row was recognised, and those that the server manages. Where there are none, one of the
 * columns by which the row was recognised is set to the value that it has, so that the rule for updates is tested all
 * the same.
 */
function patchOf(upsert: Upsert, values: RowValues, access: Access, execution: WriteExecution): RowValues {
  const kept = new Set<string>([...upsert.columns.map(({ name }) => name), ...access.table.primaryKey]);
  const others = new Map([...values].filter(([column]) => !kept.has(column)));
  const patch = withManaged("update", access.managed, others, execution);
  return patch.size > 0 ? patch : new Map([...conflictValues(upsert, values)].slice(0, 1));
}

function keepOrCreate(upsert: Upsert, create: WriteTarget, values: RowValues, execution: WriteExecution): WriteStep {
  const { access } = create;
  const { table, catalog, rule, readRule } = access;
  const key = conflictValues(upsert, values);
  const keySlots = slots(key, access);
  const from = rowWith(table, keySlots, catalog);
  const isThere = isThereWith(from);
  // Where the caller may not read the existing row, the rule for creating decides: if it denies too, the caller is
  // refused and does not learn whether the row exists.
  const isKnown = alwaysTrue(readRule) ? isThere : isReadableWith(from, table, readRule, catalog);
  const unless = { from, isThere, isKnown };
  const isCounted = isKnown === isThere || [rule, readRule].every((each) => existsIn(each).length === 0);
  const created = insertUnless(unless, `keep ${[...key.keys()].join()}`, create, values, execution);
  const creation = (abort: string) => sentWrite(created, execution, abort);
  const { probes, bound } = creation("");
  const output = [...access.readable.values()];
  const get = getStatement(table, keySlots, readRule, output, catalog, access.preview);
  const found = bindCounted(get, [execution.values, key]);
  return {
    statements: (abort) => [
      ...probes,
      ...creation(abort).statements,
      ...unlessIgnored(created, key, abort),
      found.statement,
    ],
    read: (results) => {
      const at = probes.length;
      const insert = creation("").read(results.slice(0, at), results[at]!);
      const [admitted, json, probed] = results.at(-1)!.rows[0]!;
      if (insert.row !== null) {
        const outcome = outcomeOf(created, insert, [bound, found]);
        // One more row was read. The SELECT at the end has read the new row, because a statement does not know what the
        // one before it has done.
        const read = outcome.rowsRead === null ? null : outcome.rowsRead + 1 + (probed as number);
        return { ...outcome, rowsRead: read };
      }
      return {
        rows: [{ json: admitted === 1 ? (json as string | null) : null, isNew: false }],
        write: null,
        asked: [found],
        // Two rows are counted where the caller is shown the row: the insert has looked for it, and the SELECT has read
        // it. Where it is not shown, three: the insert has looked for it twice. If the rules have an `exists`, the
        // number is not known, unless the caller may read every row: then the insert tests no rule here.
        rowsRead: isCounted ? (admitted === 1 ? 2 : 3) : null,
        rowsWritten: 0,
      };
    },
    refused: (reason) => notUpserted(reason, created),
    writes: [created],
    duration: get.exact ? durationOf(created) : "long",
    answer: keptUpsert(created.statement.answer, isThere, [execution.values, key]),
    asked: [bound, found],
  };
}

/**
 * How the answer of an upsert is kept. Whether the upsert has created the row or not, the row exists afterwards, so one
 * statement finds it.
 */
function keptUpsert(source: AnswerSource | null, isThere: Sql, values: readonly SlotValues[]): StepAnswer {
  return {
    source: source && { ...source, isNew: sql`1 - ${wasThere}` },
    isBefore: false,
    first: [stageIsThere(isThere, values)],
    values,
  };
}

/**
 * Makes the insert of an upsert, which writes nothing where the row exists already. `purpose` becomes part of the name
 * under which its statement is kept for other requests.
 */
function insertUnless(
  unless: Omit<Unless, "isUnkeyed">,
  purpose: string,
  { access, writes }: WriteTarget,
  sent: RowValues,
  execution: WriteExecution,
): RowWrite {
  const { table, catalog, rule, managed } = access;
  const values = withManaged("insert", managed, sent, execution);
  const isUnkeyed = missingKey(access, values) !== null;
  const statement = writes.get(shapeOf(access, purpose, values), () =>
    insertStatement(table, writtenSlots(values, access), rule, returnedOf(access, sent), catalog, {
      ...unless,
      isUnkeyed,
    }),
  );
  return {
    kind: "insert",
    access,
    statement,
    values: [values],
    sent,
    key: null,
    checks: [],
    expected: null,
  };
}

/** Undoes the transaction where a trigger has ignored the insert of an upsert; none where no trigger can. */
function unlessIgnored(created: RowWrite, key: RowValues, abort: string): readonly Statement[] {
  const { access } = created;
  if (!triggersOf(created).ignore) return [];
  const guard = insertedOrThere(isThereWith(rowWith(access.table, slots(key, access), access.catalog)));
  return [bind(guard, [new Map([["abort", abort]]), key])];
}

function conflictValues({ columns }: Upsert, values: RowValues): RowValues {
  return new Map(columns.map(({ name }) => [name, values.get(name)!]));
}

function shapeOf({ key }: Access, purpose: string, ...values: readonly RowValues[]): string | null {
  return key && [key, purpose, ...values.map((each) => [...each.keys()].join())].join("\n");
}

function notUpserted(reason: string, created: RowWrite): NotStanding {
  const { access, sent } = created;
  const refusals: Record<string, () => Refusal> = {
    ignored: () => ignored,
    denied: () => deniedBy(access.table, "update"),
    unkeyed: () => keyExpected(missingKey(access, sent)!),
  };
  const refusal = refusals[reason]?.() ?? deniedBy(access.table, "create");
  return { refusal, differing: null };
}
