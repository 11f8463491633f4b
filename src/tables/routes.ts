import type { Context } from "hono";
import type { Callers } from "../auth/callers.js";
import { authValues, type Caller, principalOf } from "../auth/principal.js";
import { readAhead, readJsonObject } from "../http/body.js";
import { byMethod } from "../http/by-method.js";
import { decode, parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { router } from "../http/router.js";
import type { Attempt, Meter, MeteringMembers, Subject } from "../metering/attempt.js";
import { type AtOnce, whenThere } from "../platform/at-once.js";
import type { SqlValue, Statements } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { isMetered } from "../project/is-metered.js";
import type { Table } from "../project/model.js";
import type { RuleAction } from "../rules/ast.js";
import type { CatalogTable } from "../schema/catalog.js";
import { isReadOnly, type LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";
import { accessOf } from "./access.js";
import { type Cursors, type ListResponseContext, listResponse } from "./list/list-response.js";
import { noPlanChecks } from "./plan-check.js";
import { rememberedOf } from "./remembered.js";
import { createRow, deleteRow, getRow, type RowContext, type RowValues, updateRow } from "./row/row.js";
import { type Body, compositeKey, createValues, patchValues, singleKey } from "./row/row-request.js";
import type { GivenValues, SlotName } from "./sql/fragment.js";

export interface TableServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly callers: Callers;
  readonly projects: ProjectSource;
  readonly cursors: Cursors;
  readonly meter: Meter;
  /** What an error is answered with. */
  readonly failed: (error: unknown) => Refusal;
}

/** The eight endpoints of specification 4.2. */
export function tableRoutes(services: TableServices) {
  const routes = router();
  const run = async (c: Context, act: (request: TableRequest) => Answer) => {
    const attempt = services.meter(c.req.method);
    let answer: Response | Refusal;
    try {
      const read = readAhead(c.req.raw, services.config.api.max_body_bytes);
      if (read !== undefined) await read;
      answer = await services.callers.run(c.req.raw.headers, ({ caller, schemaVersion }, database) =>
        whenThere(services.projects.current(schemaVersion), (project) => {
          if (isRefusal(project)) return project;
          const table = project.schema.tables.get(c.req.param("table") ?? "");
          return table === undefined || project.catalog.unsupported.reads.has(table.name)
            ? noSuchTable
            : act({ services, request: c.req.raw, attempt, caller, project, database, table });
        }),
      );
    } catch (error) {
      answer = services.failed(error);
    }
    const response = isRefusal(answer) ? answer.toResponse() : answer;
    // The work is metered whatever has become of it.
    const ended = attempt.end(response.status);
    if (ended !== undefined) await ended;
    return response;
  };
  const on = (action: Action, handle: Handler) => (c: Context) =>
    run(c, (request) => {
      const operation = operationOf(request, action);
      return isRefusal(operation) ? operation : handle(operation);
    });
  const other =
    (...allowed: readonly string[]) =>
    (c: Context) =>
      run(c, () => methodNotAllowed(...allowed));
  const rows = (keyOf: KeyOf) =>
    byMethod(
      {
        GET: on("get", keyed(keyOf, get)),
        PATCH: on("update", keyed(keyOf, update)),
        DELETE: on("delete", keyed(keyOf, remove)),
      },
      other,
    );
  const composite = rows(queryKey);
  routes.all("/:table", byMethod({ GET: on("list", list), POST: on("create", create) }, other));
  routes.all("/:table/:id", rows(pathKey));
  // The router of regular expressions takes no `_svc` beside `:id`.
  routes.all("/:table/:id/key", (c) => (c.req.param("id") === "_svc" ? composite(c) : c.notFound()));
  return routes;
}

/** One request to one table. */
interface TableRequest {
  readonly services: TableServices;
  readonly request: Request;
  readonly attempt: Attempt;
  readonly caller: Caller;
  readonly project: LiveProject;
  /** Checks the caller with its first round trip. */
  readonly database: Statements;
  readonly table: Table;
}

/** Its caller judged as far as that is possible without looking at rows. */
interface Operation extends TableRequest, RowContext, ListResponseContext {
  readonly attempt: Attempt;
}

type Answer = AtOnce<Response | Refusal>;
type Handler = (operation: Operation) => Answer;
type KeyOf = (operation: Operation) => RowValues | Refusal;
type KeyHandler = (operation: Operation, key: RowValues) => Answer;

const noSuchTable = new Refusal("not_found", "no such table");
const readOnly = new Refusal("method_not_allowed", "this table can only be read", {
  headers: { Allow: "GET" },
});

type Action = Subject["action"];

function operationOf(request: TableRequest, action: Action): Operation | Refusal {
  const { attempt, caller, project, table } = request;
  const { config, platform } = request.services;
  const ruleAction: RuleAction = action === "list" || action === "get" ? "read" : action;
  if (ruleAction !== "read" && isReadOnly(project, table)) return readOnly;
  const nowMs = platform.clock.now();
  const nowSeconds = Math.floor(nowMs / 1000);
  const remembered = rememberedOf(project, platform.log);
  const rules = project.rules.get(table.name)!;
  const access = accessOf(caller, table, rules, ruleAction, project.catalog, remembered.accesses, nowSeconds);
  if (isRefusal(access)) return access;
  const tally = attempt.begin({
    principalKind: caller.kind,
    principalId: caller.kind === "anonymous" ? null : caller.id,
    table: table.name,
    action,
  });
  const metered = isMetered(config);
  // Field by field: spreading what is at hand into it costs more than looking up a row.
  return {
    services: request.services,
    request: request.request,
    attempt,
    caller,
    project,
    database: request.database,
    table,
    access,
    catalog: project.catalog,
    tally,
    nowMs,
    given: givenBy(caller, nowSeconds),
    lists: remembered.lists,
    reads: remembered.reads,
    writes: remembered.writes,
    metered,
    plans: metered ? remembered.plans : noPlanChecks,
    scanLimit: config.api.scan_limit,
    cursors: request.services.cursors,
  };
}

function givenBy(caller: Caller, nowSeconds: number): GivenValues {
  const { id, email } = authValues(caller);
  const get = (name: SlotName): SqlValue | undefined => {
    switch (name) {
      case "auth.id":
        return id;
      case "auth.email":
        return email;
      case "now":
        return BigInt(nowSeconds);
      default:
        return undefined;
    }
  };
  return { get };
}

function list(operation: Operation): Promise<Response | Refusal> {
  const { request, caller, table, project } = operation;
  return listResponse(request, operation, {
    principal: principalOf(caller),
    table: table.name,
    schemaVersion: project.version,
  });
}

async function create(operation: Operation): Promise<Response | Refusal> {
  const none = withoutParameters(operation.request);
  const body = none ?? (await bodyOf(operation));
  if (isRefusal(body)) return body;
  const values = createValues(operation.table, operation.access, body, physicalOf(operation));
  return isRefusal(values) ? values : await rowResponse(operation, createRow(operation, values), 201);
}

function get(operation: Operation, key: RowValues): Promise<Response | Refusal> {
  return rowResponse(operation, getRow(operation, key), 200);
}

async function update(operation: Operation, key: RowValues): Promise<Response | Refusal> {
  const body = await bodyOf(operation);
  if (isRefusal(body)) return body;
  const patch = patchValues(operation.table, operation.access, body, physicalOf(operation));
  return isRefusal(patch) ? patch : await rowResponse(operation, updateRow(operation, key, patch), 200);
}

function remove(operation: Operation, key: RowValues): Promise<Response | Refusal> {
  return rowResponse(operation, deleteRow(operation, key), 200);
}

function physicalOf({ catalog, table }: Operation): CatalogTable | undefined {
  return catalog.tables.get(table.name);
}

function bodyOf({ request, services }: Operation): Promise<Body | Refusal> {
  return readJsonObject(request, services.config.api.max_body_bytes);
}

function keyed(keyOf: KeyOf, handle: KeyHandler): Handler {
  return (operation) => {
    const key = keyOf(operation);
    return isRefusal(key) ? key : handle(operation, key);
  };
}

function pathKey(operation: Operation): RowValues | Refusal {
  const { table, request } = operation;
  const segment = decode(lastSegment(request.url), false);
  if (segment === null) return badRequest("malformed percent-encoding in the path");
  return withoutParameters(request) ?? singleKey(table, segment, physicalOf(operation));
}

/** Of the path, as it was sent. */
function lastSegment(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  return path.slice(path.lastIndexOf("/") + 1);
}

function queryKey(operation: Operation): RowValues | Refusal {
  const parameters = parseQueryString(operation.request.url);
  return isRefusal(parameters)
    ? parameters
    : compositeKey(operation.table, parameters, physicalOf(operation));
}

/** Parameters are for lists and composite keys; elsewhere they are refused, not ignored. */
function withoutParameters(request: Request): Refusal | null {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  return parameters.length === 0 ? null : badRequest("no parameters are taken here");
}

async function rowResponse(
  { attempt }: Operation,
  row: Promise<string | Refusal>,
  status: 200 | 201,
): Promise<Response | Refusal> {
  const data = await row;
  if (isRefusal(data)) return data;
  return jsonResponse(data, await attempt.succeed(status, 1), status);
}

/** `data` is JSON text already, made by SQLite. */
function jsonResponse(data: string, meta: MeteringMembers, status: 200 | 201): Response {
  return jsonText(meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`, status);
}
