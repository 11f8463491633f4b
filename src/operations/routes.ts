import type { Context } from "hono";
import { authValues } from "../auth/principal.js";
import { readJsonObject } from "../http/body.js";
import { parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { router } from "../http/router.js";
import type { SqlValue } from "../platform/database.js";
import type { NamedOperation } from "../project/model.js";
import { type ApiRequest, type ApiServices, answered, executionOf } from "../tables/api-request.js";
import { callerRefusal, openRule } from "./allowed.js";
import { asLiterals, checkRefusal, type ParamValues, paramsFromBody, paramsFromQuery } from "./params.js";
import { runOperation } from "./run.js";
import { onlyReads } from "./statements.js";

/** `POST /ops/:name`, and `GET` for operations that only read (docs/reference/operations.md#calling). */
export function operationRoutes(services: ApiServices) {
  const routes = router();
  routes.all("/:name", (c) =>
    answered(services, c.req.raw, (asked) => operationResponse(asked, c.req.param("name"), c)),
  );
  return routes;
}

const noSuchOperation = new Refusal("not_found", "no such operation");
const notProved = new Refusal("unavailable", "the operation does not fit the schema in force");

async function operationResponse(asked: ApiRequest, name: string, c: Context): Promise<Response | Refusal> {
  const { caller, project, services, attempt } = asked;
  const live = project.operations.get(name);
  if (live === undefined) return noSuchOperation;
  const { operation, rules, proof } = live;
  const method = c.req.method === "HEAD" ? "GET" : c.req.method;
  const methods = onlyReads(operation) ? ["GET", "POST"] : ["POST"];
  if (!methods.includes(method)) return methodNotAllowed(...methods);
  const forbidden = callerRefusal(caller, live);
  if (forbidden !== null) return forbidden;
  if (proof.problems.length > 0) return notProved;
  const nowMs = services.platform.clock.now();
  const nowSeconds = Math.floor(nowMs / 1000);
  const params = await paramsOf(asked, operation, method);
  if (isRefusal(params)) return params;
  const literals = asLiterals(operation, params);
  const broken = checkRefusal(rules, literals, authValues(caller), nowSeconds);
  if (broken !== null) return broken;
  const allow = openRule(caller, live, literals, nowSeconds);
  if (isRefusal(allow)) return allow;
  const execution = executionOf(asked, `ops/${name}`, "operation", nowMs);
  const { id, email, role } = authValues(caller);
  const given = new Map<string, SqlValue>([
    ["auth_id", id],
    ["auth_email", email],
    ["auth_role", role],
    ["now", BigInt(nowSeconds)],
  ]);
  const values = [params, given, execution.values];
  const ran = await runOperation({ operation, allow, project, values }, proof.isShort, execution);
  if (isRefusal(ran)) return ran;
  const meta = await attempt.succeed(200, ran.rowsReturned);
  return jsonText(meta === "" ? `{"data":${ran.json}}` : `{"data":${ran.json},"meta":{${meta}}}`);
}

async function paramsOf(
  { request, services }: ApiRequest,
  operation: NamedOperation,
  method: string,
): Promise<ParamValues | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  if (method === "GET") return paramsFromQuery(operation, parameters);
  if (parameters.length > 0) return badRequest("the parameters are taken from the body");
  const body = await readJsonObject(request, services.config.api.max_body_bytes);
  return isRefusal(body) ? body : paramsFromBody(operation, body);
}
