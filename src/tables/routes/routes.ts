import type { Context } from "hono";
import { isPastRules } from "../../auth/callers/principal.js";
import { unknownMember } from "../../http/body.js";
import { byMethod } from "../../http/by-method.js";
import { entityTags } from "../../http/conditional.js";
import { decode, parseQueryString, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../../http/refusal.js";
import { acceptsQuery, everyAnswer } from "../../http/respond.js";
import { router } from "../../http/router.js";
import { Memo } from "../../platform/memo.js";
import { isMetered } from "../../project/is-metered.js";
import type { RuleAction, TableRules } from "../../rules/ast.js";
import { TRUE } from "../../rules/fold.js";
import { isReadOnly } from "../../schema/live-project.js";
import { listParameters } from "../../wire/list-query.js";
import { accessOf } from "../access/access.js";
import { aggregateResponse } from "../aggregate/aggregate-response.js";
import { historyResponse } from "../history/history-response.js";
import { momentsOf } from "../history/moments.js";
import type { PastRequest } from "../history/past-request.js";
import { restore } from "../history/restore.js";
import { stateResponse } from "../history/state-response.js";
import { type BoundCursors, boundTo, listResponse } from "../list/list-response.js";
import type { ReadableTables } from "../plan/expansion.js";
import type { ListParameters } from "../request/list-request.js";
import { compositeKey, type RowValues, singleKey } from "../request/row-request.js";
import { getRow } from "../row/get-row.js";
import { etagOf, isKnownTo, withoutPreconditions } from "../row/versions.js";
import { type ApiServices, answered, openBytesMax, sealedFor } from "./api-request.js";
import {
  type Action,
  furtherAccess,
  type PermittedRequest,
  permittedRequest,
  readOnlyRow,
  rowResponse,
  rowTarget,
  type TableAnswer,
  type TableHandler,
  type TableRequest,
  withoutParameters,
} from "./permitted-request.js";
import { create, remove, update } from "./write-requests.js";

/** Handlers of the endpoints under `/api/_svc`, by the last segment of their path, such as `pull`. */
export type ServiceEndpoints = ReadonlyMap<string, ReturnType<typeof byMethod>>;

/** Makes the routes of a table's fourteen endpoints (`docs/reference/http.md#endpoints`), and of `endpoints`. */
export function tableRoutes(services: ApiServices, endpoints: ServiceEndpoints) {
  const routes = router();
  const answering = (act: (request: TableRequest) => TableAnswer) => (c: Context) =>
    answered(services, c, (asked, reportColumns) => {
      const { schema, catalog } = asked.project;
      const table = schema.tables.get(c.req.param("table") ?? "");
      reportColumns(table?.columns);
      return table === undefined || catalog.unsupported.reads.has(table.name) ? noSuchTable : act({ ...asked, table });
    });
  const permitted = (action: Action, handle: TableHandler) =>
    answering((request) => {
      const judged = permittedRequest(request, action);
      return isRefusal(judged) ? judged : handle(judged);
    });
  const other = (...allowed: readonly string[]) => answering(() => methodNotAllowed(...allowed));
  const rows = (keyOf: KeyOf) =>
    byMethod(
      {
        GET: permitted("get", keyed(keyOf, get)),
        PATCH: permitted("update", keyed(keyOf, update)),
        DELETE: permitted("delete", keyed(keyOf, remove)),
      },
      other,
    );
  const composite = rows(queryKey);
  const queried = permitted("list", query);
  routes.all(
    "/:table",
    byMethod({ GET: permitted("list", list), POST: permitted("create", create), QUERY: queried }, other),
  );
  // RegExpRouter supports no route such as `/_svc/pull` or `/:table/_svc/key` beside `/:table/:id`. So these paths are
  // matched with `_svc` as the `:table` or as the `:id`.
  const byId = rows(pathKey);
  routes.all("/:table/:id", (c) =>
    c.req.param("table") === "_svc" ? (endpoints.get(c.req.param("id")) ?? byId)(c) : byId(c),
  );
  const ofService = (answer: ReturnType<typeof byMethod>) => (c: Context) =>
    c.req.param("id") === "_svc" ? answer(c) : c.notFound();
  routes.all("/:table/:id/key", ofService(composite));
  routes.all("/:table/:id/query", ofService(byMethod({ POST: queried }, other)));
  routes.all("/:table/:id/aggregate", ofService(byMethod({ GET: permitted("list", aggregate) }, other)));
  routes.all(
    "/:table/:id/history",
    ofService(byMethod({ GET: permitted("history", past("history", historyResponse)) }, other)),
  );
  routes.all("/:table/:id/restore", ofService(byMethod({ POST: permitted("restore", restored) }, other)));
  routes.all(
    "/:table/:id/state",
    ofService(byMethod({ GET: permitted("state", past("state", stateResponse)) }, other)),
  );
  return routes;
}

type KeyOf = (permitted: PermittedRequest) => RowValues | Refusal;
type KeyHandler = (permitted: PermittedRequest, key: RowValues) => TableAnswer;

const noSuchTable = new Refusal("not_found", "no such table");

function list(permitted: PermittedRequest): TableAnswer {
  const parameters = parseQueryString(permitted.asked.request.url);
  return isRefusal(parameters) ? parameters : listOf(parameters, permitted);
}

/** Answers a list request that has a JSON body: by the method QUERY (RFC 10008), or by POST to `/_svc/query`. */
async function query(permitted: PermittedRequest): Promise<Response | Refusal> {
  const { asked } = permitted;
  // A body without a type gets 400, and one of a type that is not accepted 415 (RFC 10008, section 2).
  if (!asked.request.headers.has("Content-Type")) return withoutContentType;
  const body = withoutParameters(asked.request) ?? (await asked.body.jsonObject(openBytesMax(asked)));
  if (isRefusal(body)) return body;
  const unknown = unknownMember(body, listParameters);
  return unknown === undefined ? listOf(body, permitted) : badRequest(`unknown member ${quoted(unknown)}`);
}

const withoutContentType = badRequest("expected Content-Type: application/json");

function listOf(parameters: ListParameters, permitted: PermittedRequest): TableAnswer {
  const { asked, access, execution, remembered } = permitted;
  const { config } = asked.services;
  const scanLimit = config.api.scan_limit;
  const { lists: prepared, briefTries } = remembered;
  const tables = readableTables(permitted);
  const source = { access, scanLimit, metered: isMetered(config), prepared, briefTries, tables };
  return listResponse(parameters, source, execution, cursorsOf(asked), asked.succeed, acceptsQuery);
}

/** The tables to which the expansions of a list may lead, as the caller of the request may read them. */
function readableTables({ asked, execution, remembered }: PermittedRequest): ReadableTables {
  const { caller, project } = asked;
  const { catalog } = project;
  return {
    find: (name) => {
      const table = project.schema.tables.get(name);
      if (table === undefined || catalog.unsupported.reads.has(table.name)) return null;
      const unfit = isPastRules(caller) ? undefined : project.unfit.get(table.name);
      if (unfit !== undefined) return unfit;
      const rules = project.rules.get(table.name)!;
      const nowSeconds = Math.floor(execution.nowMs / 1000);
      const accessBy = (its: TableRules, known: typeof remembered.accesses) =>
        accessOf({ caller, table, rules: its, action: "read", catalog, known, nowSeconds });
      const access = accessBy(rules, remembered.accesses);
      if (!isRefusal(access)) return { access, readable: access.readable };
      if (isPastRules(caller)) return access;
      const open = accessBy({ ...rules, read: TRUE }, new Memo(0));
      return isRefusal(open) ? open : { access: null, readable: open.readable };
    },
  };
}

function aggregate({ asked, access, execution, remembered }: PermittedRequest): TableAnswer {
  const { services, request } = asked;
  const scanLimit = services.config.api.scan_limit;
  const { aggregates: prepared, briefTries } = remembered;
  const source = { access, scanLimit, prepared, briefTries };
  return aggregateResponse(request, source, execution, cursorsOf(asked), asked.succeed);
}

/**
 * Makes a handler for requests about a table's past. `answer` names the kind of answer, such as `history`: a cursor of
 * one kind does not open for another.
 */
function past(answer: string, respond: (request: PastRequest) => Promise<Response | Refusal>): TableHandler {
  return (permitted) => {
    const { asked, access, execution } = permitted;
    const { services, request, caller } = asked;
    const parameters = parseQueryString(request.url);
    if (isRefusal(parameters)) return parameters;
    return respond({
      parameters,
      access,
      caller,
      scanLimit: services.config.api.scan_limit,
      moments: momentsOf(caller, services.cursors),
      execution,
      cursors: boundTo(answer, cursorsOf(asked)),
      succeed: asked.succeed,
    });
  };
}

async function restored(permitted: PermittedRequest): Promise<Response | Refusal> {
  const { asked, access, execution, remembered } = permitted;
  const { caller, services, table, project } = asked;
  if (isReadOnly(project, table)) return readOnlyRow;
  const body =
    withoutPreconditions(asked.request.headers) ?? withoutParameters(asked.request) ?? (await asked.body.jsonObject());
  if (isRefusal(body)) return body;
  const restoring = {
    past: access,
    caller,
    accessFor: (action: RuleAction) => furtherAccess(permitted, table, action),
    statements: { reads: remembered.reads, writes: remembered.writes },
    moments: momentsOf(caller, services.cursors),
  };
  const row = await restore(body, restoring, execution);
  return isRefusal(row) ? row : rowResponse(asked, row, 200, etagOf(access, row));
}

function cursorsOf(asked: TableRequest): BoundCursors {
  const { services, table, project } = asked;
  const binding = { principal: sealedFor(asked), table: table.name, schemaVersion: project.version };
  return { ...services.cursors, binding };
}

async function get(permitted: PermittedRequest, key: RowValues): Promise<Response | Refusal> {
  const { asked, access, execution } = permitted;
  const row = await getRow(rowTarget(permitted), execution, key);
  if (isRefusal(row)) return row;
  const etag = etagOf(access, row);
  const known = etag.ETag === undefined ? null : entityTags(asked.request.headers, "If-None-Match");
  if (isRefusal(known)) return known;
  if (!isKnownTo(known, etag)) return rowResponse(asked, row, 200, etag, true);
  await asked.attempt.succeed(304, 0);
  return new Response(null, { status: 304, headers: { ...everyAnswer, ...etag } });
}

function keyed(keyOf: KeyOf, handle: KeyHandler): TableHandler {
  return (permitted) => {
    const key = keyOf(permitted);
    return isRefusal(key) ? key : handle(permitted, key);
  };
}

function pathKey({ asked, access }: PermittedRequest): RowValues | Refusal {
  const { request } = asked;
  const segment = decode(lastSegment(request.url), false);
  if (segment === null) return badRequest("malformed percent-encoding in the path");
  return withoutParameters(request) ?? singleKey(access, segment);
}

/** The last segment of a URL's path, still percent-encoded. */
function lastSegment(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  return path.slice(path.lastIndexOf("/") + 1);
}

function queryKey({ asked, access }: PermittedRequest): RowValues | Refusal {
  const parameters = parseQueryString(asked.request.url);
  return isRefusal(parameters) ? parameters : compositeKey(access, parameters);
}
