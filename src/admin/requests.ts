import { parseQueryString, type QueryParameter, quoted } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import type { RecentRequest } from "../log/recent-requests.js";
import { type AnsweredRequest, answeredRequest, type RequestsMeta, requestsMeta } from "../wire/requests.js";
import { list, object } from "../wire/schema.js";
import { type AdminEndpoint, administrators, inQuery, readErrors } from "./endpoint.js";
import { badLimit, parseEntryLimit } from "./newest-first.js";
import type { AdminRequest } from "./services.js";

const limitDefault = "100";

/**
 * GET /admin/api/requests?who=&status=&route=&limit=: lists the last requests that this process has answered, the
 * newest first (docs/reference/log.md#the-last-requests).
 */
export const getRequestsEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/requests",
  summary: "The last requests that this process has answered",
  callers: administrators,
  parameters: ["who", "status", "route", "limit"].map((name) => inQuery(name)),
  answers: { 200: object({ data: list(answeredRequest), meta: requestsMeta }) },
  errors: readErrors,
  needs: "session",
  handle: getRequests,
};

async function getRequests({ request, services }: AdminRequest): Promise<Response | Refusal> {
  const { recent, platform } = services;
  const parameters = parseQueryString(request.url);
  const asked = isRefusal(parameters) ? parameters : askedOf(parameters);
  if (isRefusal(asked)) return asked;
  const data = [];
  for (const each of recent.newest()) {
    if (data.length === asked.limit) break;
    if (asked.takes(each)) data.push(shown(each));
  }
  const meta: RequestsMeta = { scope: platform.requestsVanish ? "isolate" : "process" };
  return json({ data, meta });
}

interface RequestLogQuery {
  readonly limit: number;
  readonly takes: (request: RecentRequest) => boolean;
}

function askedOf(parameters: readonly QueryParameter[]): RequestLogQuery | Refusal {
  const { who, status, route, limit: limitText = limitDefault, ...others } = Object.fromEntries(parameters);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return badRequest(`unknown parameter ${quoted(unknown)}`);
  if (status !== undefined && !/^[1-5](\d\d|xx)$/.test(status))
    return badRequest("status: expected a status such as 403, or a class of them such as 4xx");
  if (who !== undefined && !/^(anonymous|-|(user|key)(:.+)?)$/s.test(who))
    return badRequest("who: expected user, key, user:<id>, key:<id>, anonymous or -");
  const limit = parseEntryLimit(limitText);
  if (limit === null) return badLimit;
  const takes = (request: RecentRequest) =>
    (who === undefined || isBy(who, request)) &&
    (status === undefined || isOfStatus(status, request.status)) &&
    (route === undefined || route === request.route);
  return { limit, takes };
}

function isBy(who: string, { principal }: RecentRequest): boolean {
  if (principal === null) return who === "-";
  return who === principal.kind || who === `${principal.kind}:${principal.id}`;
}

const isOfStatus = (asked: string, status: number) =>
  asked.endsWith("xx") ? asked[0] === String(status)[0] : asked === String(status);

function shown({ id, atMs, method, route, status, ms, principal, rows, rule }: RecentRequest): AnsweredRequest {
  const [rowsRead, rowsWritten, rowsReturned] = rows;
  return {
    id,
    at: new Date(atMs).toISOString(),
    method,
    route,
    status,
    ms,
    principal,
    rows_read: rowsRead,
    rows_written: rowsWritten,
    rows_returned: rowsReturned,
    rule,
  };
}
