import { type Context, Hono } from "hono";
import { type Caller, principalOf } from "../auth/principal.js";
import type { SecretKey } from "../encoding/secret-keys.js";
import { readJsonObject } from "../http/body.js";
import { decode, parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import type { Meter } from "../metering/metering.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { Table } from "../project/model.js";
import type { RuleAction } from "../project/rules/ast.js";
import type { LiveProject } from "../schema/live-project.js";
import { type Access, accessOf } from "./access.js";
import { listResponse } from "./list-response.js";
import { createRow, deleteRow, getRow, type RowContext, type RowOutcome, updateRow } from "./row.js";
import { type Body, compositeKey, createValues, patchValues, singleKey } from "./row-request.js";
import type { Values } from "./sql/row.js";

/** Who calls, and the project as it is for this request. */
export type TableEnv = { Variables: { caller: Caller; project: LiveProject } };

export interface TableServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly meter: Meter;
  readonly cursorKey: SecretKey;
}

/** The eight endpoints of specification 4.2. */
export function tableRoutes(services: TableServices) {
  const routes = new Hono<TableEnv>();
  const on = (action: RuleAction, handle: Handler) => async (c: Context<TableEnv>) => {
    const operation = operationOf(services, c, action);
    const answer = isRefusal(operation) ? operation : await handle(operation);
    return isRefusal(answer) ? answer.toResponse() : answer;
  };
  const one = "/:table/:id";
  const oneByCompositeKey = "/:table/_svc/key";
  routes.get("/:table", on("read", list));
  routes.post("/:table", on("create", create));
  routes.get(one, on("read", keyed(pathKey, get)));
  routes.patch(one, on("update", keyed(pathKey, update)));
  routes.delete(one, on("delete", keyed(pathKey, remove)));
  routes.get(oneByCompositeKey, on("read", keyed(queryKey, get)));
  routes.patch(oneByCompositeKey, on("update", keyed(queryKey, update)));
  routes.delete(oneByCompositeKey, on("delete", keyed(queryKey, remove)));
  routes.all("/:table", otherMethod("GET", "POST"));
  for (const path of [one, oneByCompositeKey]) routes.all(path, otherMethod("GET", "PATCH", "DELETE"));
  return routes;
}

/** One request to one table, its caller judged as far as that is possible without looking at rows. */
interface Operation extends TableServices, RowContext {
  readonly request: Request;
  readonly caller: Caller;
  readonly project: LiveProject;
  readonly access: Access;
  readonly nowMs: number;
}

type Handler = (operation: Operation) => Promise<Response | Refusal>;
type KeyHandler = (operation: Operation, key: Values) => Promise<Response | Refusal>;

const noSuchTable = new Refusal("not_found", "no such table");

function tableOf(c: Context<TableEnv>): Table | Refusal {
  return c.get("project").schema.tables.get(c.req.param("table") ?? "") ?? noSuchTable;
}

function otherMethod(...allowed: readonly string[]) {
  return (c: Context<TableEnv>): Response => {
    const table = tableOf(c);
    return (isRefusal(table) ? table : methodNotAllowed(...allowed)).toResponse();
  };
}

const readOnly = methodNotAllowed("GET");

function operationOf(services: TableServices, c: Context<TableEnv>, action: RuleAction): Operation | Refusal {
  const { caller, project } = c.var;
  const table = tableOf(c);
  if (isRefusal(table)) return table;
  if (table.virtual && action !== "read") return readOnly;
  const { clock, database } = services.platform;
  const nowMs = clock.now();
  const access = accessOf(caller, table, project.rules.get(table.name)!, action, Math.floor(nowMs / 1000));
  if (isRefusal(access)) return access;
  return {
    ...services,
    request: c.req.raw,
    caller,
    project,
    table,
    access,
    nowMs,
    database,
    catalog: project.catalog,
  };
}

function list(operation: Operation): Promise<Response | Refusal> {
  const { request, caller, project, config, meter, platform, cursorKey } = operation;
  const { enabled, row_metering_enabled } = config.usage;
  return listResponse(request, {
    ...operation,
    scanLimit: config.api.scan_limit,
    metered: enabled && row_metering_enabled,
    meter,
    cursors: { key: cursorKey, random: platform.random },
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

async function get(operation: Operation, key: Values): Promise<Response | Refusal> {
  return rowResponse(operation, await getRow(operation, key), 200);
}

async function update(operation: Operation, key: Values): Promise<Response | Refusal> {
  const body = await bodyOf(operation);
  if (isRefusal(body)) return body;
  const patch = patchValues(operation.table, operation.access, body);
  return isRefusal(patch) ? patch : rowResponse(operation, await updateRow(operation, key, patch), 200);
}

async function remove(operation: Operation, key: Values): Promise<Response | Refusal> {
  return rowResponse(operation, await deleteRow(operation, key), 200);
}

function bodyOf({ request, config }: Operation): Promise<Body | Refusal> {
  return readJsonObject(request, config.api.max_body_bytes);
}

function keyed(keyOf: (operation: Operation) => Values | Refusal, handle: KeyHandler): Handler {
  return async (operation) => {
    const key = keyOf(operation);
    return isRefusal(key) ? key : handle(operation, key);
  };
}

function pathKey({ table, request }: Operation): Values | Refusal {
  const segment = decode(new URL(request.url).pathname.split("/").at(-1)!, false);
  if (segment === null) return badRequest("malformed percent-encoding in the path");
  return withoutParameters(request) ?? singleKey(table, segment);
}

function queryKey({ table, request }: Operation): Values | Refusal {
  const parameters = parseQueryString(request.url);
  return isRefusal(parameters) ? parameters : compositeKey(table, parameters);
}

/** Parameters are for lists and composite keys; elsewhere they are refused, not ignored. */
function withoutParameters(request: Request): Refusal | null {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  return parameters.length === 0 ? null : badRequest("no parameters are taken here");
}

function rowResponse(
  { meter }: Operation,
  outcome: RowOutcome | Refusal,
  status: 200 | 201,
): Response | Refusal {
  if (isRefusal(outcome)) return outcome;
  const { rowsRead, rowsWritten } = outcome;
  return jsonResponse(outcome.data, meter({ rowsRead, rowsWritten, rowsReturned: 1 }), status);
}

/** `data` is JSON text already, made by SQLite. */
function jsonResponse(data: string, meta: Readonly<Record<string, unknown>>, status: 200 | 201): Response {
  const tail = Object.keys(meta).length === 0 ? "" : `,"meta":${JSON.stringify(meta)}`;
  return jsonText(`{"data":${data}${tail}}`, status);
}
