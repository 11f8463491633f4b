import { isObject } from "../../http/body.js";
import { parseQueryString } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { jsonText } from "../../http/respond.js";
import { createValues, patchValues, type RowValues } from "../request/row-request.js";
import { deleteOf, insertOf, type RowWrite, updateOf } from "../row/row-write.js";
import { creatingUnder, etagOf, expectedVersions } from "../row/versions.js";
import type { KeptRequest } from "../sql/kept-answers.js";
import { bulkStep } from "../together/bulk.js";
import { type Once, replayedHeader, type Showing, writeOnce } from "../together/idempotency.js";
import { onlyStep, type WriteStep, writeStep } from "../together/step.js";
import { conflictOf, parseUpsert, type Upsert, type UpsertTargets, upsertStep } from "../together/upsert.js";
import { idempotencyOf } from "./idempotency-key.js";
import { furtherAccess, type PermittedRequest, rowResponse, rowTarget } from "./permitted-request.js";

/**
 * `POST /api/:table`: creates a row, or with an array several. With `on_conflict`, rows that exist already are changed
 * or left as they are.
 */
export async function create(permitted: PermittedRequest): Promise<Response | Refusal> {
  const { asked, access } = permitted;
  const upsert = creatingUnder(asked.request.headers) ?? upsertOf(permitted);
  if (isRefusal(upsert)) return upsert;
  const body = await asked.body.json();
  if (isRefusal(body)) return body;
  const kept = await idempotencyOf(asked);
  if (isRefusal(kept)) return kept;
  if (Array.isArray(body)) return createAll(body, upsert, kept, permitted);
  if (!isObject(body)) return badRequest("expected a JSON object, or an array of them, as the body");
  const values = createValues(access, body, mayExist(upsert));
  if (isRefusal(values)) return values;
  const steps = upsert === null ? onlyInsert(values, permitted) : stepsOf([values], upsert, kept, permitted);
  const once = isRefusal(steps) ? steps : await carryOut(steps, permitted, kept);
  if (isRefusal(once)) return once;
  if (once.outcome === "refused") return once.refusal;
  const { json, isNew } = once.rows[0]!;
  const etag = json === null ? {} : etagOf(access, json);
  return rowResponse(asked, json, isNew ? 201 : 200, { ...etag, ...replayedHeader(isReplay(once)) });
}

/** Whether a row with these values may exist already, by the columns of the upsert. */
const mayExist = (upsert: Upsert | null) => (values: RowValues) =>
  upsert !== null && conflictOf(upsert, values) !== null;

function onlyInsert(values: RowValues, permitted: PermittedRequest): readonly WriteStep[] | Refusal {
  const write = insertOf(rowTarget(permitted), values, permitted.execution);
  return isRefusal(write) ? write : [onlyStep(write, permitted.execution)];
}

/** How many rows one request creates at most. */
const bulkRowsMax = 1_000;

async function createAll(
  body: readonly unknown[],
  upsert: Upsert | null,
  kept: KeptRequest | null,
  permitted: PermittedRequest,
): Promise<Response | Refusal> {
  const { asked, access } = permitted;
  if (body.length === 0 || body.length > bulkRowsMax) return badRequest(`expected 1 to ${bulkRowsMax} rows`);
  const rows: RowValues[] = [];
  for (const [i, element] of body.entries()) {
    const values = isObject(element)
      ? createValues(access, element, mayExist(upsert))
      : badRequest("expected a JSON object");
    if (isRefusal(values)) return values.of(`row ${i}`);
    rows.push(values);
  }
  const steps = stepsOf(rows, upsert, kept, permitted);
  if (isRefusal(steps)) return steps;
  const once = await carryOut(steps, permitted, kept);
  if (isRefusal(once)) return once;
  if (once.outcome === "refused") return once.refusal.of(`row ${once.at}`);
  const status = once.rows.every(({ isNew }) => isNew) ? 201 : 200;
  const shown = once.rows.filter(({ json }) => json !== null).length;
  const meta = await asked.attempt.succeed(status, shown);
  const data = `[${once.rows.map(({ json }) => json ?? "null").join()}]`;
  return jsonText(
    meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`,
    status,
    replayedHeader(isReplay(once)),
  );
}

/** Reads `on_conflict` and `on_duplicate` of a create; null without them. Refuses other parameters. */
function upsertOf({ asked, access }: PermittedRequest): Upsert | Refusal | null {
  const parameters = parseQueryString(asked.request.url);
  if (isRefusal(parameters)) return parameters;
  if (parameters.length === 0) return null;
  const known = new Map(parameters);
  for (const name of known.keys())
    if (name !== "on_conflict" && name !== "on_duplicate")
      return badRequest("no parameters are taken here but on_conflict and on_duplicate");
  return parseUpsert(known, access);
}

/**
 * Makes the steps that create rows: one step for all of them if possible, else one for each row. With `upsert`, a step
 * may change an existing row or leave it as it is.
 */
function stepsOf(
  rows: readonly RowValues[],
  upsert: Upsert | null,
  kept: KeptRequest | null,
  permitted: PermittedRequest,
): readonly WriteStep[] | Refusal {
  const { execution, remembered } = permitted;
  const target = rowTarget(permitted);
  const bulk = upsert === null && rows.length > 1 ? bulkStep(target, remembered.bulk, rows, execution) : null;
  if (isRefusal(bulk)) return bulk;
  if (bulk !== null && (kept === null || bulk.answer.source !== null)) return [bulk];
  const targets = upsert === null ? null : upsertTargets(upsert, permitted);
  if (isRefusal(targets)) return targets;
  const seen = new Set<string>();
  const steps: WriteStep[] = [];
  for (const [i, values] of rows.entries()) {
    const conflict = upsert === null ? null : conflictOf(upsert, values);
    if (conflict !== null && seen.has(conflict))
      return badRequest(`row ${i}: another row of the request has the same ${conflictNames(upsert!)}`);
    if (conflict !== null) seen.add(conflict);
    const step =
      conflict === null
        ? stepOf(insertOf(target, values, execution), permitted)
        : upsertStep(upsert!, targets!, values, execution);
    if (isRefusal(step)) return rows.length === 1 ? step : step.of(`row ${i}`);
    steps.push(step);
  }
  return steps;
  function upsertTargets(of: Upsert, { access }: PermittedRequest): UpsertTargets | Refusal {
    const create = { access, writes: remembered.writes };
    if (of.onDuplicate === "ignore") return { create, update: create };
    const updating = furtherAccess(permitted, access.table, "update");
    return isRefusal(updating) ? updating : { create, update: { access: updating, writes: remembered.writes } };
  }
}

const conflictNames = ({ columns }: Upsert) => columns.map(({ name }) => name).join(", ");

function stepOf(write: RowWrite | Refusal, { execution }: PermittedRequest): WriteStep | Refusal {
  return isRefusal(write) ? write : writeStep(write, execution);
}

/** `PATCH /api/:table/…`: changes a row. */
export async function update(permitted: PermittedRequest, key: RowValues): Promise<Response | Refusal> {
  const { asked, access, execution } = permitted;
  const body = await asked.body.jsonObject();
  if (isRefusal(body)) return body;
  const patch = patchValues(access, body);
  if (isRefusal(patch)) return patch;
  const expected = expectedVersions(access, asked.request.headers);
  if (isRefusal(expected)) return expected;
  const kept = await idempotencyOf(asked);
  if (isRefusal(kept)) return kept;
  return changed(updateOf(rowTarget(permitted), key, patch, execution, expected), permitted, kept);
}

/** `DELETE /api/:table/…`: deletes a row. */
export async function remove(permitted: PermittedRequest, key: RowValues): Promise<Response | Refusal> {
  const { asked, access } = permitted;
  const expected = expectedVersions(access, asked.request.headers);
  if (isRefusal(expected)) return expected;
  const kept = await idempotencyOf(asked);
  if (isRefusal(kept)) return kept;
  return changed(deleteOf(rowTarget(permitted), key, expected), permitted, kept);
}

/** Carries out an update or a delete of one row, and answers. */
async function changed(
  write: RowWrite | Refusal,
  permitted: PermittedRequest,
  kept: KeptRequest | null,
): Promise<Response | Refusal> {
  if (isRefusal(write)) return write;
  const once = await carryOut([onlyStep(write, permitted.execution)], permitted, kept);
  if (isRefusal(once)) return once;
  if (once.outcome === "refused") return once.refusal;
  const json = once.rows[0]!.json!;
  const etag = write.kind === "delete" ? {} : etagOf(permitted.access, json);
  return rowResponse(permitted.asked, json, 200, { ...etag, ...replayedHeader(isReplay(once)) });
}

type Done = Exclude<Once, { readonly outcome: "stopped" }>;

async function carryOut(
  steps: readonly WriteStep[],
  permitted: PermittedRequest,
  kept: KeptRequest | null,
): Promise<Done | Refusal> {
  return done(await writeOnce(steps, permitted.execution, kept, showingTo(permitted)));
}

function showingTo(permitted: PermittedRequest): Showing {
  return {
    accessTo: (table) => furtherAccess(permitted, table, "read"),
    reads: permitted.remembered.reads,
  };
}

function done(once: Once | Refusal): Done | Refusal {
  if (!isRefusal(once) && once.outcome === "stopped") throw new Error(`writes were stopped: ${once.reason}`);
  return once as Done | Refusal;
}

const isReplay = ({ outcome }: Once) => outcome === "replayed";
