import { isObject, unknownMember } from "../http/body.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import type { Table } from "../project/model.js";
import {
  type ApiRequest,
  accessTo,
  executionOf,
  openBytesMax,
  refusedEverywhere,
} from "../tables/routes/api-request.js";
import { idempotencyOf } from "../tables/routes/idempotency-key.js";
import { rememberedOf } from "../tables/routes/remembered.js";
import { withoutPreconditions } from "../tables/row/versions.js";
import { replayedHeader, writeOnce } from "../tables/together/idempotency.js";
import { type NotStanding, writeStep } from "../tables/together/step.js";
import { keptReferences } from "./references.js";
import { namedTable, parseWrite, type RequestedWrite } from "./requested-write.js";

/** How many writes one request to `/api/_svc/batch` has at most. */
const batchWritesMax = 100;

/** `POST /api/_svc/batch`: carries out several writes in one transaction (docs/reference/http.md#batch). */
export async function batch(asked: ApiRequest): Promise<Response | Refusal> {
  const { services, request, attempt, project } = asked;
  const condition = withoutPreconditions(request.headers);
  if (condition !== null) return condition;
  const refusal = refusedEverywhere(asked, ["create", "update", "delete"]);
  if (refusal !== null) return refusal;
  const sentBody = await asked.body.json(openBytesMax(asked));
  if (isRefusal(sentBody)) return sentBody;
  const sent = operationsIn(sentBody, batchWritesMax);
  if (isRefusal(sent)) return sent;
  const kept = await idempotencyOf(asked);
  if (isRefusal(kept)) return kept;
  const nowMs = services.platform.clock.now();
  const execution = executionOf(asked, tablesOf(sent, asked), "batch", nowMs);
  const writes: RequestedWrite[] = [];
  for (const [i, each] of sent.entries()) {
    const write = parseWrite(each, { asked, execution, earlier: writes });
    if (isRefusal(write)) return write.of(`operation ${i}`);
    writes.push(write);
  }
  const showing = {
    accessTo: (table: Parameters<typeof accessTo>[1]) => accessTo(asked, table, "read", nowMs),
    reads: rememberedOf(project, services.platform).reads,
  };
  const steps = writes.map(({ write }) => writeStep(write, execution));
  const once = await writeOnce(steps, execution, kept, showing, keptReferences(writes, execution));
  if (isRefusal(once)) return once;
  if (once.outcome === "refused") return refusalOf(once).of(`operation ${once.at}`);
  if (once.outcome === "stopped") throw new Error(`a batch was stopped: ${once.reason}`);
  const meta = await attempt.succeed(200, once.rows.length);
  const data = `[${once.rows.map(({ json }) => json).join()}]`;
  const body = meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`;
  return jsonText(body, 200, replayedHeader(once.outcome === "replayed"));
}

/** The refusal of a batch. Where values of a row differ from the `base` of its operation, it names their columns. */
function refusalOf({ refusal, differing }: NotStanding): Refusal {
  return differing === null ? refusal : new Refusal(refusal.code, refusal.message, { columns: differing });
}

/** The 1 to `max` members of `operations` in a body. Refuses a body with other members, or another array. */
function operationsIn(body: unknown, max: number): readonly unknown[] | Refusal {
  if (!isObject(body)) return badRequest("expected a JSON object as the body");
  const { operations } = body;
  const unknown = unknownMember(body, ["operations"]);
  if (unknown !== undefined) return badRequest(`unknown member ${JSON.stringify(unknown)}`);
  return Array.isArray(operations) && operations.length > 0 && operations.length <= max
    ? operations
    : badRequest(`operations: expected an array of 1 to ${max}`);
}

/** The tables that writes name, each once; names of none are left out. */
export function tablesIn(sent: readonly unknown[], { project }: Pick<ApiRequest, "project">): readonly Table[] {
  const tables = sent.flatMap((each) => {
    const table = namedTable(each, project);
    return isRefusal(table) ? [] : [table];
  });
  return [...new Set(tables)];
}

/** The tables to which writes go, sorted, with commas. Metering records them as the table of the request. */
export function tablesOf(sent: readonly unknown[], asked: Pick<ApiRequest, "project">): string {
  return tablesIn(sent, asked)
    .map(({ name }) => name)
    .sort()
    .join();
}
