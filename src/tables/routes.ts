import type { Context } from "hono";
import type { Callers } from "../auth/callers.js";
import { authValues, type Caller, idOf, longWorkFor, principalOf } from "../auth/principal.js";
import { tellOf } from "../http/answer-facts.js";
import { readAhead, readJsonObject } from "../http/body.js";
import { byMethod } from "../http/by-method.js";
import { decode, parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal, responseOf } from "../http/refusal.js";
import { acceptsQuery, type HeadersRecord, jsonText } from "../http/respond.js";
import { router } from "../http/router.js";
import type { Attempt, Meter, Subject } from "../metering/attempt.js";
import { type AtOnce, whenThere } from "../platform/at-once.js";
import type { SqlValue, Statements } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { isMetered } from "../project/is-metered.js";
import type { Table } from "../project/model.js";
import type { RuleAction, TableRules } from "../rules/ast.js";
import { TRUE } from "../rules/fold.js";
import { isReadOnly, type LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";
import { type Access, accessOf } from "./access.js";
import { aggregateResponse } from "./aggregate/aggregate-response.js";
import type { WriteExecution } from "./execution.js";
import type { ReadableTables } from "./expansion/expansion.js";
import { momentsOf } from "./history/moments.js";
import { stateResponse } from "./history/state-response.js";
import type { ListParameters } from "./list/list-request.js";
import { type BoundCursors, type Cursors, listResponse } from "./list/list-response.js";
import { noPlanChecks } from "./plan-check.js";
import { type Remembered, rememberedOf } from "./remembered.js";
import { createRow, deleteRow, getRow, type RowTarget, updateRow } from "./row/row.js";
import {
  type Body,
  compositeKey,
  createValues,
  patchValues,
  type RowValues,
  singleKey,
} from "./row/row-request.js";
import type { SlotValues } from "./sql/fragment.js";

/** The services that the table endpoints use. */
export interface TableServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly callers: Callers;
  readonly projects: ProjectSource;
  readonly cursors: Cursors;
  readonly meter: Meter;
  /** The answer to an exception, which is also logged where it was not expected. */
  readonly failed: (error: unknown) => Refusal;
  /** Whether requests are logged, so that the log has to be told what it cannot see by itself. */
  readonly isLogged: boolean;
}

/** The eleven endpoints of a table (`docs/reference/http.md#endpoints`). */
export function tableRoutes(services: TableServices) {
  const routes = router();
  const answering = (act: (request: TableRequest) => TableAnswer) => (c: Context) =>
    answered(services, c.req.raw, c.req.param("table") ?? "", act);
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
  routes.all("/:table/:id", rows(pathKey));
  // RegExpRouter supports no route such as `/:table/_svc/key` beside `/:table/:id`, so `_svc` is matched as an `:id`.
  const ofService = (answer: ReturnType<typeof byMethod>) => (c: Context) =>
    c.req.param("id") === "_svc" ? answer(c) : c.notFound();
  routes.all("/:table/:id/key", ofService(composite));
  routes.all("/:table/:id/query", ofService(byMethod({ POST: queried }, other)));
  routes.all("/:table/:id/aggregate", ofService(byMethod({ GET: permitted("list", aggregate) }, other)));
  routes.all("/:table/:id/state", ofService(byMethod({ GET: permitted("state", state) }, other)));
  return routes;
}

/**
 * Answers a request to a table: authenticates the caller, looks the table up, calls `act`, and records the receipt
 * (what the request cost), also where the answer is an error.
 */
async function answered(
  services: TableServices,
  request: Request,
  name: string,
  act: (request: TableRequest) => TableAnswer,
): Promise<Response> {
  const attempt = services.meter(request.method);
  let answer: Response | Refusal;
  let by: Caller | undefined;
  let of: Table | undefined;
  try {
    const body = readAhead(request, services.config.api.max_body_bytes);
    if (body !== undefined) await body;
    answer = await services.callers.run(request.headers, ({ caller, schemaVersion }, database) => {
      by = caller;
      return whenThere(services.projects.current(schemaVersion), (project) => {
        if (isRefusal(project)) return project;
        const table = project.schema.tables.get(name);
        of = table;
        return table === undefined || project.catalog.unsupported.reads.has(table.name)
          ? noSuchTable
          : act({ services, request, attempt, caller, project, database, table });
      });
    });
    // `caller` is who the credentials name. It is passed on before the database has checked them, and where the check
    // fails, the log must not name that caller.
    if (isRefusal(answer) && answer.code === "unauthorized" && by?.kind !== "anonymous") by = undefined;
  } catch (error) {
    answer = services.failed(error);
  }
  const response = responseOf(answer);
  const ended = attempt.end(response.status);
  if (ended !== undefined) await ended;
  if (services.isLogged)
    tellOf(request, response, { principal: by, columns: of?.columns, receipt: attempt.receipt() });
  return response;
}

/** One request to one table, with all that is needed to answer it. */
interface TableRequest {
  readonly services: TableServices;
  readonly request: Request;
  readonly attempt: Attempt;
  readonly caller: Caller;
  readonly project: LiveProject;
  /** The database for this request. It adds the check of the caller's credentials to its first round trip. */
  readonly database: Statements;
  readonly table: Table;
}

/** A request that is allowed as far as the rules can tell without looking at rows. */
interface PermittedRequest {
  readonly asked: TableRequest;
  readonly access: Access;
  readonly execution: WriteExecution;
  readonly remembered: Remembered;
}

type TableAnswer = AtOnce<Response | Refusal>;
type TableHandler = (permitted: PermittedRequest) => TableAnswer;
type KeyOf = (permitted: PermittedRequest) => RowValues | Refusal;
type KeyHandler = (permitted: PermittedRequest, key: RowValues) => TableAnswer;
type Action = Subject["action"];

const noSuchTable = new Refusal("not_found", "no such table");
const noHistory = new Refusal("not_found", "this table keeps no history");
const onlyRead = (headers: HeadersRecord) =>
  new Refusal("method_not_allowed", "this table can only be read", { headers });
/** A table that can only be read, and one of its rows, refuse to be written. */
const readOnly = onlyRead({ Allow: "GET, QUERY", ...acceptsQuery });
const readOnlyRow = onlyRead({ Allow: "GET" });

/** The rule that decides about an action. */
const ruleActions: Record<Action, RuleAction> = {
  list: "read",
  get: "read",
  create: "create",
  update: "update",
  delete: "delete",
  history: "history",
  state: "history",
  restore: "history",
};

function permittedRequest(asked: TableRequest, action: Action): PermittedRequest | Refusal {
  const { attempt, caller, project, table, database } = asked;
  const { config, platform } = asked.services;
  const ruleAction = ruleActions[action];
  if (ruleAction !== "read" && ruleAction !== "history" && isReadOnly(project, table))
    return action === "create" ? readOnly : readOnlyRow;
  const beganMs = platform.clock.elapsed();
  const nowMs = platform.clock.now();
  const nowSeconds = Math.floor(nowMs / 1000);
  const remembered = rememberedOf(project, platform);
  const rules = project.rules.get(table.name)!;
  const accessFor = (of: RuleAction) =>
    accessOf(caller, table, rules, of, project.catalog, remembered.accesses, nowSeconds);
  if (ruleAction === "history") {
    if (table.historyDays === null) return noHistory;
    const mayRead = accessFor("read");
    if (isRefusal(mayRead)) return mayRead;
  }
  const access = accessFor(ruleAction);
  if (isRefusal(access)) return access;
  const principal = { principalKind: caller.kind, principalId: idOf(caller) };
  const tally = attempt.begin({ ...principal, table: table.name, action });
  const plans = isMetered(config) ? remembered.plans : noPlanChecks;
  const execution = {
    database,
    tally,
    plans,
    values: callerValues(caller, nowSeconds),
    nowMs,
    changedBy: () => ({ ...principal, at: nowMs, attemptId: attempt.id() }),
    longWork: () => longWorkFor(caller, config.api, platform.clock.elapsed() - beganMs),
  };
  return { asked, access, execution, remembered };
}

/**
 * The values of `auth.id`, `auth.email`, `auth.email_verified` and `now()`, which a rule's SQL has placeholders for.
 * `auth.role` needs none: the SQL is made for the caller's role.
 */
function callerValues(caller: Caller, nowSeconds: number): SlotValues {
  const { id, email, email_verified } = authValues(caller);
  const get = (name: string): SqlValue | undefined => {
    switch (name) {
      case "auth.id":
        return id;
      case "auth.email":
        return email;
      case "auth.email_verified":
        return email_verified === null ? null : BigInt(email_verified);
      case "now()":
        return BigInt(nowSeconds);
      default:
        return undefined;
    }
  };
  return { get };
}

function list(permitted: PermittedRequest): TableAnswer {
  const parameters = parseQueryString(permitted.asked.request.url);
  return isRefusal(parameters) ? parameters : listOf(parameters, permitted);
}

/** A list whose request is in its body (RFC 10008). */
async function query(permitted: PermittedRequest): Promise<Response | Refusal> {
  const { asked } = permitted;
  // RFC 10008, section 2, tells a body whose type is missing (400) from one of a type that is not taken (415).
  if (!asked.request.headers.has("Content-Type")) return withoutContentType;
  const body = withoutParameters(asked.request) ?? (await bodyOf(asked));
  return isRefusal(body) ? body : listOf(body, permitted);
}

const withoutContentType = badRequest("expected Content-Type: application/json");

function listOf(parameters: ListParameters, permitted: PermittedRequest): Promise<Response | Refusal> {
  const { asked, access, execution, remembered } = permitted;
  const { services, attempt } = asked;
  const { config } = services;
  const scanLimit = config.api.scan_limit;
  const { lists: prepared, briefTries } = remembered;
  const tables = readableTables(permitted);
  const source = { access, scanLimit, metered: isMetered(config), prepared, briefTries, tables };
  return listResponse(parameters, source, execution, cursorsOf(asked), attempt.succeed, acceptsQuery);
}

/** The tables of the project as the caller of a request may read them. */
function readableTables({ asked, execution, remembered }: PermittedRequest): ReadableTables {
  const { caller, project } = asked;
  const { catalog } = project;
  return {
    find: (name) => {
      const table = project.schema.tables.get(name);
      if (table === undefined || catalog.unsupported.reads.has(table.name)) return null;
      const rules = project.rules.get(table.name)!;
      const nowSeconds = Math.floor(execution.nowMs / 1000);
      const accessBy = (its: TableRules, known: typeof remembered.accesses) =>
        accessOf(caller, table, its, "read", catalog, known, nowSeconds);
      const access = accessBy(rules, remembered.accesses);
      if (!isRefusal(access)) return { access, readable: access.readable };
      if (caller.kind === "key") return access;
      const open = accessBy({ ...rules, read: TRUE }, new Memo(0));
      return isRefusal(open) ? open : { access: null, readable: open.readable };
    },
  };
}

function aggregate({ asked, access, execution, remembered }: PermittedRequest): TableAnswer {
  const { services, request, attempt } = asked;
  const scanLimit = services.config.api.scan_limit;
  const { aggregates: prepared, briefTries } = remembered;
  const source = { access, scanLimit, prepared, briefTries };
  return aggregateResponse(request, source, execution, cursorsOf(asked), attempt.succeed);
}

function state(permitted: PermittedRequest): TableAnswer {
  const { asked, access, execution } = permitted;
  const { services, request, attempt, caller } = asked;
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const moments = momentsOf(caller, services.cursors);
  const scanLimit = services.config.api.scan_limit;
  return stateResponse(parameters, access, scanLimit, moments, execution, cursorsOf(asked), attempt.succeed);
}

function cursorsOf({ services, caller, table, project }: TableRequest): BoundCursors {
  const binding = { principal: principalOf(caller), table: table.name, schemaVersion: project.version };
  return { ...services.cursors, binding };
}

async function create(permitted: PermittedRequest): Promise<Response | Refusal> {
  const { asked, access, execution } = permitted;
  const none = withoutParameters(asked.request);
  const body = none ?? (await bodyOf(asked));
  if (isRefusal(body)) return body;
  const values = createValues(access, body);
  if (isRefusal(values)) return values;
  return rowResponse(asked, createRow(rowTarget(permitted), execution, values), 201);
}

function get(permitted: PermittedRequest, key: RowValues): Promise<Response | Refusal> {
  const { asked, execution } = permitted;
  return rowResponse(asked, getRow(rowTarget(permitted), execution, key), 200);
}

async function update(permitted: PermittedRequest, key: RowValues): Promise<Response | Refusal> {
  const { asked, access, execution } = permitted;
  const body = await bodyOf(asked);
  if (isRefusal(body)) return body;
  const patch = patchValues(access, body);
  if (isRefusal(patch)) return patch;
  return rowResponse(asked, updateRow(rowTarget(permitted), execution, key, patch), 200);
}

function remove(permitted: PermittedRequest, key: RowValues): Promise<Response | Refusal> {
  const { asked, execution } = permitted;
  return rowResponse(asked, deleteRow(rowTarget(permitted), execution, key), 200);
}

function rowTarget({ access, remembered }: PermittedRequest): RowTarget {
  return { access, reads: remembered.reads, writes: remembered.writes };
}

function bodyOf({ request, services }: TableRequest): Promise<Body | Refusal> {
  return readJsonObject(request, services.config.api.max_body_bytes);
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

/** Refuses query parameters, for requests that take none; null where there are none. */
function withoutParameters(request: Request): Refusal | null {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  return parameters.length === 0 ? null : badRequest("no parameters are taken here");
}

/** The answer with one row, which is JSON text already. */
async function rowResponse(
  { attempt }: TableRequest,
  row: Promise<string | Refusal>,
  status: 200 | 201,
): Promise<Response | Refusal> {
  const data = await row;
  if (isRefusal(data)) return data;
  const meta = await attempt.succeed(status, 1);
  return jsonText(meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`, status);
}
