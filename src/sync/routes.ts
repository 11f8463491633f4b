import type { Context } from "hono";
import { readJsonObject } from "../http/body.js";
import { byMethod } from "../http/by-method.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { type ApiRequest, type ApiServices, accessTo, answered, executionOf } from "../tables/api-request.js";
import type { ServiceEndpoints } from "../tables/routes.js";
import { pullPage } from "./pull.js";
import { viewOf } from "./view.js";

/** The endpoints that keep a client's copy of rows up to date (docs/sync.md), by the last segment of their path. */
export function syncEndpoints(services: ApiServices): ServiceEndpoints {
  const pulled = (c: Context) => answered(services, c.req.raw, pull);
  return new Map([["pull", byMethod({ POST: pulled, QUERY: pulled })]]);
}

const limitDefault = 500;
const limitMax = 1000;

/** `POST /api/_svc/pull` */
async function pull(asked: ApiRequest): Promise<Response | Refusal> {
  const { services, request, attempt, caller, project } = asked;
  const body = await readJsonObject(request, services.config.api.max_body_bytes);
  if (isRefusal(body)) return body;
  const { tables, checkpoint = null, limit = limitDefault, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return badRequest(`unknown member ${JSON.stringify(unknown)}`);
  if (checkpoint !== null && typeof checkpoint !== "string")
    return badRequest("checkpoint: expected a text or null");
  if (!isIntegerIn(limit, 1, limitMax)) return badRequest(`limit: expected an integer from 1 to ${limitMax}`);
  const nowMs = services.platform.clock.now();
  const view = viewOf(tables, caller, project, (table) => accessTo(asked, table, "read", nowMs));
  if (isRefusal(view)) return view;
  const names = view.tables.map(({ name }) => name).sort();
  const execution = executionOf(asked, names.join(), "sync", nowMs);
  const page = await pullPage(
    view,
    checkpoint,
    limit,
    services.config.api.scan_limit,
    execution,
    services.cursors,
  );
  if (isRefusal(page)) return page;
  // How many rows were examined to find out what has changed is not known.
  execution.tally.add(page.isQuiet ? 0 : null);
  const { changes, count, more, reset } = page;
  const data = `{"checkpoint":"${page.checkpoint}","more":${more},"reset":${JSON.stringify(reset)},"changes":${changes}}`;
  const metered = await attempt.succeed(200, count);
  return jsonText(`{"data":${data},"meta":{${metered}}}`);
}

function isIntegerIn(value: unknown, minimum: number, maximum: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum;
}
