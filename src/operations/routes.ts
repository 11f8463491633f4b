import type { Context } from "hono";
import { parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { router } from "../http/router.js";
import type { NamedOperation } from "../project/model.js";
import {
  type ApiRequest,
  type ApiServices,
  answered,
  asReaderOnly,
  executionOf,
} from "../tables/routes/api-request.js";
import { idempotencyOf } from "../tables/routes/idempotency-key.js";
import { withoutPreconditions } from "../tables/row/versions.js";
import { replayedHeader } from "../tables/together/idempotency.js";
import { callOperation, callRefusal } from "./call.js";
import { type ParamValues, paramsFromBody, paramsFromQuery } from "./params.js";
import { onlyReads } from "./statements.js";

/** `POST /ops/:name`, and `GET` for operations that only read (docs/reference/operations.md#calling). */
export function operationRoutes(services: ApiServices) {
  const routes = router();
  routes.all("/:name", (c) => answered(services, c, (asked) => operationResponse(asked, c.req.param("name"), c)));
  return routes;
}

const noSuchOperation = new Refusal("not_found", "no such operation");

async function operationResponse(asked: ApiRequest, name: string, c: Context): Promise<Response | Refusal> {
  const { caller, project, services } = asked;
  const live = project.operations.get(name);
  if (live === undefined) return noSuchOperation;
  const method = c.req.method === "HEAD" ? "GET" : c.req.method;
  const methods = onlyReads(live.operation) ? ["GET", "POST"] : ["POST"];
  if (!methods.includes(method)) return methodNotAllowed(...methods);
  const refusal = asReaderOnly(asked) ?? callRefusal({ live, caller });
  if (refusal !== null) return refusal;
  const condition = method === "GET" ? null : withoutPreconditions(asked.request.headers);
  if (condition !== null) return condition;
  const params = await paramsOf(asked, live.operation, method);
  if (isRefusal(params)) return params;
  const kept = method === "GET" ? null : await idempotencyOf(asked);
  if (isRefusal(kept)) return kept;
  const nowMs = services.platform.clock.now();
  const begin = () => executionOf(asked, `ops/${name}`, "operation", nowMs);
  const ran = await callOperation({ live, caller, project, nowMs }, params, begin, kept);
  if (isRefusal(ran)) return ran;
  const meta = await asked.succeed(200, ran.rowsReturned, onlyReads(live.operation) ? ran.json : "");
  if (isRefusal(meta)) return meta;
  const body = meta === "" ? `{"data":${ran.json}}` : `{"data":${ran.json},"meta":{${meta}}}`;
  return jsonText(body, 200, replayedHeader(ran.isReplayed));
}

async function paramsOf(
  { request, body: sent }: ApiRequest,
  operation: NamedOperation,
  method: string,
): Promise<ParamValues | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  if (method === "GET") return paramsFromQuery(operation, parameters);
  if (parameters.length > 0) return badRequest("the parameters are taken from the body");
  const body = await sent.jsonObject();
  return isRefusal(body) ? body : paramsFromBody(operation, body);
}
