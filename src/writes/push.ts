import { principalOf } from "../auth/callers/principal.js";
import { toHex } from "../encoding/hex.js";
import { isObject, unknownMember } from "../http/body.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { nonceBytes } from "../platform/abort.js";
import { AbortError, UnavailableError } from "../platform/database.js";
import { read, type WriteExecution } from "../tables/execution/execution.js";
import { type ApiRequest, accessTo, executionOf, refusedEverywhere } from "../tables/routes/api-request.js";
import { hashOf } from "../tables/routes/idempotency-key.js";
import { rememberedOf } from "../tables/routes/remembered.js";
import { getRow } from "../tables/row/get-row.js";
import type { RowWrite } from "../tables/row/row-write.js";
import { withoutPreconditions } from "../tables/row/versions.js";
import { writeStep } from "../tables/together/step.js";
import { joinServerStatements, noServerStatements, type Together, writeTogether } from "../tables/together/together.js";
import { tablesIn, tablesOf } from "./batch.js";
import { type ClientName, clientsMax, type Known, knownOf, type Recorded, record, takeNext } from "./ledger.js";
import { keptReferences } from "./references.js";
import { parseWrite, type RequestedWrite } from "./requested-write.js";

/** How many mutations one request to `/api/_svc/push` has at most. */
const mutationsMax = 100;
/** How many operations all mutations of one push have together at most: on Node, and on a Worker. */
const pushedOperationsMax = { node: 1_000, worker: 200 } as const;

/** A mutation that a client pushes: writes that are carried out together, numbered by the client. */
interface Mutation {
  readonly id: number;
  readonly operations: readonly unknown[];
  readonly hash: string;
}

/** What the answer to a push says of one mutation. */
interface PushedAnswer {
  readonly id: number;
  readonly json: string;
  /** How many rows `json` contains. */
  readonly rows: number;
}

/**
 * `POST /api/_svc/push` (docs/sync.md#push): carries out mutations of a client in the order of their ids, each in a
 * transaction of its own and only once. That a mutation is refused is recorded, and does not stop those after it.
 */
export async function push(asked: ApiRequest): Promise<Response | Refusal> {
  const { services, caller, request, attempt } = asked;
  if (caller.kind === "anonymous") return notSignedIn;
  const condition = withoutPreconditions(request.headers);
  if (condition !== null) return condition;
  const refusal = refusedEverywhere(asked, ["create", "update", "delete"]);
  if (refusal !== null) return refusal;
  const body = await asked.body.json();
  if (isRefusal(body)) return body;
  const isWorker = services.platform.requestsVanish;
  const pushed = await parsePush(body, pushedOperationsMax[isWorker ? "worker" : "node"]);
  if (isRefusal(pushed)) return pushed;
  const { client, mutations } = pushed;
  const nowMs = services.platform.clock.now();
  const operations = mutations.flatMap((mutation) => mutation.operations);
  const unscoped = lackingScope(operations, asked, nowMs);
  if (unscoped !== null) return unscoped;
  const execution = executionOf(asked, tablesOf(operations, asked), "push", nowMs);
  const pushing: Pushing = { asked, execution, client, name: `${principalOf(caller)}\n${client}`, nowMs };
  const answers: PushedAnswer[] = [];
  let known: Known | null = null;
  for (const [i, mutation] of mutations.entries()) {
    try {
      let next = known !== null && mutation.id <= known.lastId ? null : await carryOut(mutation, pushing);
      if (next === null && known === null) {
        // This mutation is not the client's next one. If it is the first of the push, all mutations of the push are
        // compared with what is known of the client. A later one ends the push.
        if (i > 0) break;
        known = await lookUp(mutations, pushing);
        const refusal = misfit(mutations, known);
        if (refusal !== null) return refusal;
      }
      next ??= mutation.id <= known!.lastId ? await repeated(mutation, known!, pushing) : null;
      if (next === null) break;
      answers.push(next);
    } catch (error) {
      // The database has become unavailable. If mutations before this one were recorded, the answer tells of them, and
      // the client will send the others again.
      if (!(error instanceof UnavailableError) || answers.length === 0) throw error;
      break;
    }
  }
  const lastId = Math.max(answers.at(-1)?.id ?? 0, known?.lastId ?? 0);
  const meta = await attempt.succeed(
    200,
    answers.reduce((sum, { rows }) => sum + rows, 0),
  );
  const data = `{"last_id":${lastId},"results":[${answers.map(({ json }) => json).join()}]}`;
  return jsonText(meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`);
}

const notSignedIn = new Refusal("unauthorized", "sign in to push, as mutations belong to who sends them");

/**
 * Refuses the push of an API key that may write none of the tables that the operations name: its mutations are not to
 * be lost, as another scope would let them pass. Null for other callers, whose rules may depend on the rows.
 */
function lackingScope(operations: readonly unknown[], asked: ApiRequest, nowMs: number): Refusal | null {
  if (asked.caller.kind !== "key") return null;
  const accesses = tablesIn(operations, asked).map((table) => accessTo(asked, table, "create", nowMs));
  const [first] = accesses;
  return isRefusal(first) && accesses.every(isRefusal) ? first : null;
}

interface Pushing {
  readonly asked: ApiRequest;
  readonly execution: WriteExecution;
  readonly client: string;
  readonly name: ClientName;
  readonly nowMs: number;
}

async function parsePush(
  body: unknown,
  operationsMax: number,
): Promise<{ readonly client: string; readonly mutations: readonly Mutation[] } | Refusal> {
  if (!isObject(body)) return badRequest("expected a JSON object as the body");
  const { client, mutations: sent } = body;
  const unknown = unknownMember(body, ["client", "mutations"]);
  if (unknown !== undefined) return badRequest(`unknown member ${JSON.stringify(unknown)}`);
  if (typeof client !== "string" || !/^[\x21-\x7e]{1,100}$/.test(client))
    return badRequest("client: expected 1 to 100 visible characters");
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > mutationsMax)
    return badRequest(`mutations: expected an array of 1 to ${mutationsMax}`);
  const mutations: Mutation[] = [];
  let count = 0;
  for (const [i, mutation] of sent.entries()) {
    const { id, operations } = isObject(mutation) ? mutation : {};
    const isOther = isObject(mutation) && unknownMember(mutation, ["id", "operations"]) !== undefined;
    if (isOther || typeof id !== "number" || !Number.isSafeInteger(id) || id < 1)
      return badRequest(`mutations.${i}: expected {id, operations} with an id from 1 on`);
    if (!Array.isArray(operations) || operations.length === 0)
      return badRequest(`mutations.${i}: operations: expected an array of at least one`);
    const before = mutations.at(-1);
    if (before !== undefined && id !== before.id + 1) return gap(before.id + 1);
    count += operations.length;
    mutations.push({ id, operations, hash: await hashOf(JSON.stringify(operations)) });
  }
  return count > operationsMax
    ? new Refusal("payload_too_large", `a push has at most ${operationsMax} operations`)
    : { client, mutations };
}

function gap(expected: number): Refusal {
  return new Refusal("conflict", `the ids of mutations count up by one: ${expected} is next`, { expected });
}

/** Carries out a mutation, or records that it is refused; null where it is not the client's next one. */
async function carryOut(mutation: Mutation, pushing: Pushing): Promise<PushedAnswer | null> {
  const writes = writesOf(mutation, pushing);
  if (!Array.isArray(writes)) return refuse(mutation, writes as RefusedMutation, pushing);
  const { execution, client, name, nowMs } = pushing;
  const changedBy = () => ({ ...execution.changedBy(), client, mutation: mutation.id });
  const steps = writes.map(({ write }) => writeStep(write, execution));
  const together = await writeTogether(
    steps,
    { ...execution, changedBy },
    joinServerStatements([
      {
        ...noServerStatements,
        before: (nonce) => takeNext(name, mutation.id, nowMs, nonce),
        last: () => record(name, mutation.id, mutation.hash, nowMs, { status: "applied" }),
      },
      keptReferences(writes, execution),
    ]),
  );
  switch (together.outcome) {
    case "stopped":
      return null;
    case "refused":
      return refuse(mutation, refusedBy(together, writes), pushing);
    case "written": {
      const rows = together.rows.map(({ json }, i) => shownRow(json!, writes[i]!.write));
      return {
        id: mutation.id,
        json: `{"id":${mutation.id},"status":"applied","rows":[${rows.map((row) => row ?? "null").join()}]}`,
        rows: rows.filter((row) => row !== null).length,
      };
    }
  }
}

/** Reads a mutation's writes. Where one is refused before the database is asked, the whole mutation is. */
function writesOf(mutation: Mutation, { asked, execution }: Pushing): readonly RequestedWrite[] | RefusedMutation {
  const writes: RequestedWrite[] = [];
  for (const [operation, sent] of mutation.operations.entries()) {
    const write = parseWrite(sent, { asked, execution, earlier: writes });
    // The client sends the mutation again: it is not refused for good.
    if (isRefusal(write) && write.error.code === "unavailable") throw new UnavailableError(write.message);
    if (isRefusal(write)) return { result: rejected(operation, write), conflicting: null };
    writes.push(write);
  }
  return writes;
}

/** A mutation that is refused for good, with `result`, which also answers it when it is sent again. */
interface RefusedMutation {
  readonly result: Recorded;
  /** The write whose `base` differs from the stored row; null if the mutation is refused for another reason. */
  readonly conflicting: RowWrite | null;
}

const rejected = (operation: number, refusal: Refusal): Recorded => ({
  status: "rejected",
  operation,
  error: refusal.error,
});

function refusedBy(
  { at, refusal, differing }: Extract<Together, { readonly outcome: "refused" }>,
  writes: readonly RequestedWrite[],
): RefusedMutation {
  if (differing === null) return { result: rejected(at, refusal), conflicting: null };
  return {
    result: { status: "conflict", operation: at, error: refusal.error, fields: differing },
    conflicting: writes[at]!.write,
  };
}

/** Records that a mutation is refused. Null, and nothing recorded, if it is not the client's next one. */
async function refuse(
  { id, hash }: Mutation,
  { result, conflicting }: RefusedMutation,
  pushing: Pushing,
): Promise<PushedAnswer | null> {
  const { execution, name, nowMs } = pushing;
  const nonce = toHex(execution.random.bytes(nonceBytes));
  try {
    await execution.database.batch([...takeNext(name, id, nowMs, nonce), ...record(name, id, hash, nowMs, result)]);
  } catch (error) {
    if (error instanceof AbortError && error.nonce === nonce) return null;
    throw error;
  }
  return reportRefused(id, result, conflicting, pushing);
}

async function reportRefused(
  id: number,
  result: Recorded,
  conflicting: RowWrite | null,
  pushing: Pushing,
): Promise<PushedAnswer> {
  const current = conflicting && (await currentOf(conflicting, pushing));
  const members = JSON.stringify({ id, ...result });
  const json = current === null ? members : `${members.slice(0, -1)},"current":${current}}`;
  return { id, json, rows: current === null ? 0 : 1 };
}

/** The row of a refused write as it is now, in JSON; null where it is missing or may not be read. */
async function currentOf({ access, key }: RowWrite, { asked, execution }: Pushing): Promise<string | null> {
  const reading = accessTo(asked, access.table, "read", execution.nowMs);
  if (isRefusal(reading)) return null;
  const { reads, writes } = rememberedOf(asked.project, asked.services.platform);
  const row = await getRow({ access: reading, reads, writes }, execution, key!);
  return isRefusal(row) ? null : row;
}

/**
 * The row to show for a write; for a delete, its key, and for a write-only key the key and what it sent. Null where the
 * caller may not read the row.
 */
function shownRow(json: string, { kind, access }: RowWrite): string | null {
  if (kind === "delete") return json;
  if (access.writeOnlyKey) return json;
  return Object.keys(JSON.parse(json)).length === access.readable.size ? json : null;
}

async function lookUp(mutations: readonly Mutation[], { execution, name }: Pushing): Promise<Known> {
  const known = knownOf(name, mutations[0]!.id, mutations.at(-1)!.id);
  return known.read(await read(execution, known.statements, "short"));
}

/**
 * Refuses a push whose mutations cannot follow those that the server knows: one is missing between them, one was sent
 * before with other operations, or the caller has too many clients. Null if they can.
 */
function misfit(mutations: readonly Mutation[], { lastId, mutations: known }: Known): Refusal | null {
  const first = mutations[0]!.id;
  if (first > lastId + 1) return gap(lastId + 1);
  if (mutations.some(({ id, hash }) => known.has(id) && known.get(id)!.hash !== hash)) return otherBody;
  // The first mutation was not the client's next one when it was tried. If it is by now, another push was carried out
  // meanwhile, and nothing is wrong. But if it has the id 1 and the client is still unknown, the caller has too many
  // clients.
  return first === 1 && lastId === 0 ? tooManyClients : null;
}

const otherBody = new Refusal("idempotency_mismatch", "a mutation came with other operations before under the same id");
const tooManyClients = new Refusal("rate_limited", `a caller has at most ${clientsMax} clients`, {
  headers: { "Retry-After": "3600" },
});

/**
 * What the answer says of a mutation that an earlier push carried out or had refused: a duplicate, without its rows, or
 * again why it was refused. It is a duplicate, too, if the outcome is no longer recorded.
 */
async function repeated(mutation: Mutation, { mutations }: Known, pushing: Pushing): Promise<PushedAnswer> {
  const { id } = mutation;
  const result = mutations.get(id)?.result;
  if (result === undefined || result.status === "applied")
    return { id, json: `{"id":${id},"status":"duplicate"}`, rows: 0 };
  const writes = result.status === "conflict" ? writesOf(mutation, pushing) : [];
  const conflicting = Array.isArray(writes) ? (writes[result.operation as number]?.write ?? null) : null;
  return reportRefused(id, result, conflicting, pushing);
}
