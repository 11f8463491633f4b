import { toHex } from "../../encoding/hex.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { HeadersRecord } from "../../http/respond.js";
import { abortText, isAbort, nonceBytes } from "../../platform/abort.js";
import type { AtOnce } from "../../platform/at-once.js";
import type { Memo } from "../../platform/memo.js";
import type { Table } from "../../project/model.js";
import type { Access } from "../access/access.js";
import { read, type WriteExecution } from "../execution/execution.js";
import { bindCounted, type Counted, type CountedStatement } from "../plan/plan-check.js";
import { keyInBody } from "../request/row-request.js";
import { type LoneWrite, writeAlone } from "../row/lone-write.js";
import { asSent, type RowWrite, slots, withColumns } from "../row/row-write.js";
import { triggersOf } from "../row/sent-write.js";
import { finishKey, finishRows } from "../sql/finish-rows.js";
import {
  clearStaged,
  ifKept,
  type KeptRequest,
  keepAll,
  keepForLater,
  keepOne,
  keepRows,
  keepWritten,
  keptAnswer,
  keptRows,
  unlessKept,
} from "../sql/kept-answers.js";
import { returnedRow } from "../sql/returning.js";
import { getStatement } from "../sql/row.js";
import type { Sql } from "../sql-text/fragment.js";
import type { WriteStep } from "./step.js";
import {
  joinServerStatements,
  noServerStatements,
  type ServerStatements,
  type Together,
  type WrittenTogether,
  writeTogether,
} from "./together.js";

/** The header by which a request is carried out only once (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyHeader = "Idempotency-Key";

/** Returns the header `Idempotency-Replayed: true` for an answer that is given again; no header for a first answer. */
export function replayedHeader(isReplayed: boolean): HeadersRecord {
  return isReplayed ? { "Idempotency-Replayed": "true" } : {};
}

/**
 * What is needed to show a kept answer again. A repetition shows only what its caller may read by then, so rows are
 * read once more: `accessTo` gives the access to a table, and `reads` keeps the statements.
 */
export interface Showing {
  readonly accessTo: (table: Table) => Access | Refusal;
  readonly reads: Memo<Counted<Sql>>;
}

/** The outcome of writes that happen once: of `writeTogether`, or `replayed` with the rows of the kept answer. */
export type Once = Together | { readonly outcome: "replayed"; readonly rows: readonly WrittenTogether[] };

/**
 * Carries out the steps of a request in one transaction: all of them, or nothing. With `request`, it keeps the answer in
 * the same transaction; if the request was carried out before, nothing is written, and its kept answer is given again.
 * Refuses with 422 where the idempotency key came with another body before, and with 400 where the answer cannot be
 * kept. A single write without further statements takes fewer statements than `writeTogether` sends for it.
 */
export async function writeOnce(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  request: KeptRequest | null,
  showing: Showing,
  own: ServerStatements = noServerStatements,
): Promise<Once | Refusal> {
  const alone = steps.length === 1 && own === noServerStatements ? steps[0]!.alone : undefined;
  if (alone !== undefined && (request === null || isKeptDirectly(alone.write)))
    return writeAloneOnce(alone, steps, execution, request, showing);
  if (request === null) return writeTogether(steps, execution, own);
  if (steps.some(({ answer }) => answer.source === null)) return notKeepable;
  const written = await writeTogether(steps, execution, joinServerStatements([keeping(steps, request), own]));
  if (written.outcome === "written" && steps.some(runsTriggers))
    return { ...written, rows: await asKept(written.rows, steps, request, execution) };
  if (written.outcome !== "stopped") return written;
  if (written.reason !== unkept) return replay(steps, execution, request, showing);
  execution.tally.add(null);
  return takenAway;
}

async function writeAloneOnce(
  alone: LoneWrite,
  steps: readonly WriteStep[],
  execution: WriteExecution,
  request: KeptRequest | null,
  showing: Showing,
): Promise<Once | Refusal> {
  const { write } = alone;
  const nonce = request === null ? "" : toHex(execution.random.bytes(nonceBytes));
  const extra = request && {
    nonce,
    before: unlessKept(request, nonce),
    after: keepWritten(write.statement.answer!, request, [execution.values, ...write.values]),
  };
  try {
    const row = await writeAlone(alone, execution, extra);
    if (isRefusal(row)) return { outcome: "refused", at: 0, refusal: row, differing: null };
    return { outcome: "written", rows: [{ json: row, isNew: write.kind === "insert" }] };
  } catch (error) {
    if (request === null || !isAbort(error, nonce)) throw error;
    return replay(steps, execution, request, showing);
  }
}

/**
 * Whether `keepWritten` can keep the answer of a write. That is so for a create or an update that no trigger and no
 * check accompanies, and whose answer has the columns of the key.
 */
function isKeptDirectly(write: RowWrite): boolean {
  const { kind, access, checks, statement } = write;
  const { run, own, logged } = triggersOf(write);
  const { table, readable } = access;
  const isPlain = kind !== "delete" && checks.length === 0 && !run && !own && !logged;
  return isPlain && statement.answer !== null && table.primaryKey.every((column) => readable.has(column));
}

const notKeepable = badRequest(
  `${idempotencyHeader}: the key of this table is made by a default, by which a row cannot be found`,
);
/** Why a transaction is undone whose answer cannot be kept: a trigger has taken the row away. */
const unkept = "unkept";
const takenAway = badRequest(
  `${idempotencyHeader}: a trigger of the table takes the row away, so that there is no answer to keep`,
);
/** The refusal (422) of a request whose idempotency key came with another body before. */
export const mismatch = new Refusal("idempotency_mismatch", `the ${idempotencyHeader} came with another body before`);

function keeping(steps: readonly WriteStep[], request: KeptRequest): ServerStatements {
  const [first, ...further] = steps;
  const isOne = further.length === 0;
  const keepAtOnce = first!.parts === undefined ? keepOne : keepRows;
  return {
    before: (nonce) => [unlessKept(request, nonce)],
    around: (index, nonce) => {
      const { source, isBefore, values, first: staging = [] } = steps[index]!.answer;
      const kept = isOne ? keepAtOnce(source!, request, values) : keepForLater(source!, index, values);
      if (isBefore) return { before: [kept], after: [] };
      return {
        before: staging,
        after: runsTriggers(steps[index]!) ? [kept, ifKept(abortText(nonce, unkept))] : [kept],
      };
    },
    last: () => {
      if (!isOne) return [keepAll(request), clearStaged];
      return first!.answer.first === undefined ? [] : [clearStaged];
    },
  };
}

const runsTriggers = ({ writes }: WriteStep) => writes.some((write) => triggersOf(write).run);

/**
 * Replaces the rows that the writes have returned by those that were kept. A trigger of the project's owner may have
 * changed a row after its RETURNING was made; the kept one has that change. In this way the first answer is the same as
 * that of each repetition.
 */
async function asKept(
  rows: readonly WrittenTogether[],
  steps: readonly WriteStep[],
  request: KeptRequest,
  { database }: WriteExecution,
): Promise<readonly WrittenTogether[]> {
  const [found] = await database.query([keptAnswer(request)]);
  const kept = await keptOf(steps, found!.rows[0]![2] as string);
  return rows.map((row, i) => {
    const { stored, write } = kept[i]!;
    return row.json === null || write.kind === "delete" || stored === null ? row : { ...row, json: stored };
  });
}

/** A row of a kept answer, with the write of the request that it belongs to. */
interface KeptWrite {
  readonly isNew: boolean;
  readonly write: RowWrite;
  /** The primary key of a row of a kept answer, as JSON text. */
  readonly keyText: string;
  /** The row as it was answered, as JSON text; null where only its key was kept, because the answer was too large. */
  readonly stored: string | null;
}

async function keptOf(steps: readonly WriteStep[], answer: string): Promise<readonly KeptWrite[]> {
  const parts = steps.length === 1 ? steps[0]!.parts : undefined;
  const kept = keptRows(answer, steps[0]!.writes[0]!.access.table.primaryKey);
  const writes = kept.map(async ([isNew, key, row], i) => {
    const write = parts === undefined ? steps[i]!.writes[0]! : parts.write(i);
    const columns = [...write.access.table.columns.values()];
    return {
      isNew: isNew === 1,
      write,
      keyText: finishKey(JSON.stringify(key), columns),
      stored: row === null ? null : await finishRows(returnedRow(row).json, columns),
    };
  });
  return Promise.all(writes);
}

async function replay(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  request: KeptRequest,
  showing: Showing,
): Promise<Once | Refusal> {
  const [found] = await read(execution, [keptAnswer(request)], "short");
  const [hash, , answer] = found!.rows[0]!;
  if (hash !== request.hash) return mismatch;
  const kept = await keptOf(steps, answer as string);
  const shown = kept.map((each) => shownNow(each, execution, showing));
  const asked = shown.flatMap(({ get }) => (get === null ? [] : [get]));
  const results =
    asked.length === 0
      ? []
      : await read(
          execution,
          asked.map(({ statement }) => statement),
          "long",
        );
  const current = results.values();
  execution.tally.add(0);
  const rows = shown.map(async ({ get, json }, i) => {
    const { isNew } = kept[i]!;
    if (get === null) return { json: await json(null), isNew };
    const row = current.next().value!.rows[0];
    if (row !== undefined) execution.tally.add(get.exact ? 1 + (row[2] as number) : null);
    return { json: await json(row?.[0] === 1 ? (row[1] as string | null) : null), isNew };
  });
  return { outcome: "replayed", rows: await Promise.all(rows) };
}

/** How a row of a kept answer is shown to the caller of the repetition: only as far as they may read it by now. */
interface ReplayedRow {
  /**
   * The statement that reads the row as it is now, to know whether the caller may see it. Null where the row is not
   * read, and `json` is given null: after a delete, for example, or where the caller may read no row of the table.
   */
  readonly get: CountedStatement | null;
  /**
   * Gives the row to answer with, as JSON text, or null if nothing of it is shown. `current` is the row as it is now;
   * null where it is gone or the caller may not read it.
   */
  readonly json: (current: string | null) => AtOnce<string | null>;
}

function shownNow(
  { isNew, write, keyText, stored }: KeptWrite,
  { values }: WriteExecution,
  { accessTo, reads }: Showing,
): ReplayedRow {
  const { access: writing, kind } = write;
  const { table, catalog } = writing;
  if (kind === "delete") return { get: null, json: () => keyText };
  // An upsert that has left an existing row as it is does not reveal the row's key to a caller who may not read the
  // row. For all other writes the key is shown.
  const isLeft = kind === "insert" && !isNew;
  const hidden = isLeft ? null : keyText;
  if (writing.writeOnlyKey)
    return { get: null, json: () => (isLeft ? null : stored === null ? keyText : asSent(stored, write)) };
  const reading = accessTo(table);
  if (isRefusal(reading) || table.primaryKey.length === 0) return { get: null, json: () => hidden };
  const output = [...reading.readable.values()];
  const keyValues = keyInBody(writing, JSON.parse(keyText));
  // The kept key does not fit the table any more, because the schema has another primary key by now: the row cannot be
  // read.
  if (isRefusal(keyValues)) return { get: null, json: () => hidden };
  const get = reads.get(reading.key && `${reading.key}\nreplayed`, () =>
    getStatement(table, slots(keyValues, reading), reading.rule, output, catalog, reading.preview),
  );
  return {
    get: bindCounted(get, [values, keyValues]),
    json: (current: string | null) => {
      if (current === null) return hidden;
      return stored === null ? finishRows(current, output) : withColumns(stored, reading.readable);
    },
  };
}
