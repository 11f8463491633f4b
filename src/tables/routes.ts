import type { Context, MiddlewareHandler } from "hono";
import type { Callers } from "../auth/callers.js";
import { authValues, type Caller, principalOf } from "../auth/principal.js";
import { readAhead, readJsonObject } from "../http/body.js";
import { decode, parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { router } from "../http/router.js";
import type { Attempt, MeteringMembers, Subject } from "../metering/attempt.js";
import { type AtOnce, whenThere } from "../platform/at-once.js";
import type { SqlValue, Statements } from "../platform/database.js";
import type { Cipher, Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { isMetered } from "../project/is-metered.js";
import type { Table } from "../project/model.js";
import type { RuleAction } from "../project/rules/ast.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";
import { type Access, accessOf } from "./access.js";
import type { ListContext } from "./list.js";
import { listResponse } from "./list-response.js";
import { noPlanChecks } from "./plan-check.js";
import { rememberedOf } from "./remembered.js";
import { createRow, deleteRow, getRow, type RowContext, type RowValues, updateRow } from "./row.js";
import { type Body, compositeKey, createValues, patchValues, singleKey } from "./row-request.js";
import type { GivenValues } from "./sql/fragment.js";

/** The metered request. */
export type TableEnv = { Variables: { attempt: Attempt } };

export interface TableServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly callers: Callers;
  readonly projects: ProjectSource;
  readonly cursorCipher: Cipher;
}

/** The eight endpoints of specification 4.2. */
export function tableRoutes(services: TableServices) {
  const routes = router<TableEnv>();
  const run = async (c: Context<TableEnv>, act: (request: TableRequest) => Answer) => {
    const read = readAhead(c.req.raw, services.config.api.max_body_bytes);
    if (read !== undefined) await read;
    // Not of c.var, which copies all of them.
    const attempt = c.get("attempt");
    const answer = await services.callers.run(c.req.raw.headers, ({ caller, schemaVersion }, database) =>
      whenThere(services.projects.current(schemaVersion), (project) => {
        if (isRefusal(project)) return project;
        const table = project.schema.tables.get(c.req.param("table") ?? "");
        return table === undefined
          ? noSuchTable
          : act({ services, request: c.req.raw, attempt, caller, project, database, table });
      }),
    );
    return isRefusal(answer) ? answer.toResponse() : answer;
  };
  const on = (action: Action, handle: Handler) => (c: Context<TableEnv>) =>
    run(c, (request) => {
      const operation = operationOf(request, action);
      return isRefusal(operation) ? operation : handle(operation);
    });
  const otherMethod =
    (...allowed: readonly string[]) =>
    (c: Context<TableEnv>) =>
      run(c, () => methodNotAllowed(...allowed));
  routes.get("/:table", on("list", list));
  routes.post("/:table", on("create", create));
  routes.all("/:table", otherMethod("GET", "POST"));
  // The router of regular expressions takes no `_svc` beside `:id`.
  const underSvc: MiddlewareHandler<TableEnv> = async (c, next) =>
    c.req.param("id") === "_svc" ? next() : c.notFound();
  routes.use("/:table/:id/key", underSvc);
  for (const [path, keyOf] of [
    ["/:table/:id", pathKey],
    ["/:table/:id/key", queryKey],
  ] as const) {
    routes.get(path, on("get", keyed(keyOf, get)));
    routes.patch(path, on("update", keyed(keyOf, update)));
    routes.delete(path, on("delete", keyed(keyOf, remove)));
    routes.all(path, otherMethod("GET", "PATCH", "DELETE"));
  }
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
interface Operation extends TableRequest, RowContext {
  readonly access: Access;
  readonly lists: ListContext["lists"];
}

type Answer = AtOnce<Response | Refusal>;
type Handler = (operation: Operation) => Answer;
type KeyHandler = (operation: Operation, key: RowValues) => Answer;

const noSuchTable = new Refusal("not_found", "no such table");
const readOnly = methodNotAllowed("GET");

type Action = Subject["action"];

function operationOf(request: TableRequest, action: Action): Operation | Refusal {
  const { attempt, caller, project, table } = request;
  const { config, platform } = request.services;
  const ruleAction: RuleAction = action === "list" || action === "get" ? "read" : action;
  if (table.virtual && ruleAction !== "read") return readOnly;
  const nowMs = platform.clock.now();
  const nowSeconds = Math.floor(nowMs / 1000);
  const remembered = rememberedOf(project, platform.log);
  const rules = project.rules.get(table.name)!;
  const access = accessOf(caller, table, rules, ruleAction, remembered.accesses, nowSeconds);
  if (isRefusal(access)) return access;
  const tally = attempt.begin({
    principalKind: caller.kind,
    principalId: caller.kind === "anonymous" ? null : caller.id,
    table: table.name,
    action,
  });
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
    plans: isMetered(config) ? remembered.plans : noPlanChecks,
  };
}

function givenBy(caller: Caller, nowSeconds: number): GivenValues {
  const { id, email } = authValues(caller);
  return new Map<string, SqlValue>([
    ["auth.id", id],
    ["auth.email", email],
    ["now", BigInt(nowSeconds)],
  ]);
}

function list(operation: Operation): Promise<Response | Refusal> {
  const { caller, project, services } = operation;
  const { config, platform, cursorCipher } = services;
  return listResponse(operation.request, {
    database: operation.database,
    table: operation.table,
    access: operation.access,
    catalog: operation.catalog,
    tally: operation.tally,
    plans: operation.plans,
    lists: operation.lists,
    given: operation.given,
    nowMs: operation.nowMs,
    attempt: operation.attempt,
    scanLimit: config.api.scan_limit,
    metered: isMetered(config),
    cursors: { cipher: cursorCipher, random: platform.random },
    principal: principalOf(caller),
    schemaVersion: project.version,
  });
}

async function create(operation: Operation): Promise<Response | Refusal> {
  const none = withoutParameters(operation.request);
  const body = none ?? (await bodyOf(operation));
  if (isRefusal(body)) return body;
  const values = createValues(operation.table, operation.access, body);
  return isRefusal(values) ? values : rowResponse(operation, await createRow(operation, values), 201);
}

async function get(operation: Operation, key: RowValues): Promise<Response | Refusal> {
  return rowResponse(operation, await getRow(operation, key), 200);
}

async function update(operation: Operation, key: RowValues): Promise<Response | Refusal> {
  const body = await bodyOf(operation);
  if (isRefusal(body)) return body;
  const patch = patchValues(operation.table, operation.access, body);
  return isRefusal(patch) ? patch : rowResponse(operation, await updateRow(operation, key, patch), 200);
}

async function remove(operation: Operation, key: RowValues): Promise<Response | Refusal> {
  return rowResponse(operation, await deleteRow(operation, key), 200);
}

function bodyOf({ request, services }: Operation): Promise<Body | Refusal> {
  return readJsonObject(request, services.config.api.max_body_bytes);
}

function keyed(keyOf: (operation: Operation) => RowValues | Refusal, handle: KeyHandler): Handler {
  return (operation) => {
    const key = keyOf(operation);
    return isRefusal(key) ? key : handle(operation, key);
  };
}

function pathKey({ table, request }: Operation): RowValues | Refusal {
  const segment = decode(lastSegment(request.url), false);
  if (segment === null) return badRequest("malformed percent-encoding in the path");
  return withoutParameters(request) ?? singleKey(table, segment);
}

/** Of the path, as it was sent. */
function lastSegment(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  return path.slice(path.lastIndexOf("/") + 1);
}

function queryKey({ table, request }: Operation): RowValues | Refusal {
  const parameters = parseQueryString(request.url);
  return isRefusal(parameters) ? parameters : compositeKey(table, parameters);
}

/** Parameters are for lists and composite keys; elsewhere they are refused, not ignored. */
function withoutParameters(request: Request): Refusal | null {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  return parameters.length === 0 ? null : badRequest("no parameters are taken here");
}

async function rowResponse(
  { attempt }: Operation,
  data: string | Refusal,
  status: 200 | 201,
): Promise<Response | Refusal> {
  if (isRefusal(data)) return data;
  return jsonResponse(data, await attempt.succeed(status, 1), status);
}

/** `data` is JSON text already, made by SQLite. */
function jsonResponse(data: string, meta: MeteringMembers, status: 200 | 201): Response {
  return jsonText(meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`, status);
}
