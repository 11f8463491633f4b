import { parseQueryString } from "../../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { acceptsQuery, type HeadersRecord, jsonText } from "../../http/respond.js";
import type { Subject } from "../../metering/attempt.js";
import type { AtOnce } from "../../platform/at-once.js";
import type { Table } from "../../project/model.js";
import type { RuleAction } from "../../rules/ast.js";
import { isReadOnly } from "../../schema/live-project.js";
import { type Access, previewed } from "../access/access.js";
import type { WriteExecution } from "../execution/execution.js";
import type { RowTarget } from "../row/get-row.js";
import { type ApiRequest, accessTo, asReaderOnly, executionOf } from "./api-request.js";
import { type Remembered, rememberedOf } from "./remembered.js";

/** A request to one table, with all that is needed to answer it. */
export interface TableRequest extends ApiRequest {
  readonly table: Table;
}

/** A request that is allowed as far as the rules can tell before a row is looked at, with what answers it. */
export interface PermittedRequest {
  readonly asked: TableRequest;
  readonly access: Access;
  readonly execution: WriteExecution;
  readonly remembered: Remembered;
}

/** What a handler of requests to a table returns: an answer, at once or later. */
export type TableAnswer = AtOnce<Response | Refusal>;
/** A handler of requests to a table that are permitted as far as no row has to be looked at. */
export type TableHandler = (permitted: PermittedRequest) => TableAnswer;
/** The actions of requests that are about a single table. */
export type Action = Exclude<Subject["action"], "sync" | "operation" | "batch" | "push">;

const noHistory = new Refusal("not_found", "this table keeps no history");
const onlyRead = (headers: HeadersRecord) =>
  new Refusal("method_not_allowed", "this table can only be read", { headers });
const readOnly = onlyRead({ Allow: "GET, QUERY", ...acceptsQuery });
/** The answer 405 to a request that changes a row of a table that can only be read. */
export const readOnlyRow = onlyRead({ Allow: "GET" });

/** The rule that decides about each action; `permittedAccess` makes an exception for `restore` by an API key. */
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

/**
 * Decides whether a request may do an action with its table, before any row is looked at. Returns the request with what
 * is needed to answer it; a refusal where no row could be admitted, the table does not take the action, or the header
 * `Svc-Preview` is not valid.
 */
export function permittedRequest(asked: TableRequest, action: Action): PermittedRequest | Refusal {
  const { project, table } = asked;
  const nowMs = asked.services.platform.clock.now();
  const refused = action === "restore" ? asReaderOnly(asked) : null;
  const preview = previewOf(asked);
  const access = refused ?? permittedAccess(asked, action, (of) => accessTo(asked, table, of, nowMs));
  if (isRefusal(access)) return access;
  if (isRefusal(preview)) return preview;
  const execution = executionOf(asked, table.name, action, nowMs);
  const remembered = rememberedOf(project, asked.services.platform);
  return { asked, access: previewed(access, preview), execution, remembered };
}

/**
 * The number of bytes that a request names by the header `Svc-Preview` (docs/reference/http.md#previews). Null where it
 * has no such header, or these endpoints ignore it; a refusal where the number is not valid.
 */
function previewOf({ request, services }: TableRequest): number | Refusal | null {
  const text = services.takesPreviews ? request.headers.get("Svc-Preview") : null;
  if (text === null) return null;
  const bytes = /^[1-9]\d{1,4}$/.test(text) ? Number(text) : 0;
  return bytes >= previewMin && bytes <= previewMax ? bytes : badPreview;
}

const previewMin = 64;
const previewMax = 10_000;
const badPreview = badRequest(`Svc-Preview: expected a number of bytes from ${previewMin} to ${previewMax}`);

/**
 * Decides what the caller of a permitted request may do with a table by one more action. Where the answer to the
 * request shows long values by their beginnings, the access for this action does so, too.
 */
export function furtherAccess(
  { asked, access, execution }: PermittedRequest,
  table: Table,
  action: RuleAction,
): Access | Refusal {
  const further = accessTo(asked, table, action, execution.nowMs);
  return isRefusal(further) ? further : previewed(further, access.preview);
}

/**
 * Decides what a caller may do with a table by an action, before any row is looked at. `accessFor` decides by one rule
 * of the table. This function also refuses writes to a table that can only be read, and the history where the table
 * keeps none or the caller may not read the table.
 */
export function permittedAccess(
  { project, table, caller }: Pick<TableRequest, "project" | "table" | "caller">,
  action: Action,
  accessFor: (of: RuleAction) => Access | Refusal,
): Access | Refusal {
  const ruleAction = ruleActions[action];
  if (ruleAction !== "read" && ruleAction !== "history" && isReadOnly(project, table))
    return action === "create" ? readOnly : readOnlyRow;
  // To write an earlier version of a row back (`restore`), an API key needs only the scope for writing.
  const isKeysRestore = action === "restore" && caller.kind === "key";
  if (ruleAction === "history") {
    if (table.historyDays === null) return noHistory;
    const mayRead = isKeysRestore ? null : accessFor("read");
    if (isRefusal(mayRead)) return mayRead;
  }
  return accessFor(isKeysRestore ? "update" : ruleAction);
}

/** What reads and writes of single rows use: the caller's access, and the statements of earlier requests. */
export function rowTarget({ access, remembered }: PermittedRequest): RowTarget {
  return { access, reads: remembered.reads, writes: remembered.writes };
}

/** Refuses query parameters, for requests that take none; null where there are none. */
export function withoutParameters(request: Request): Refusal | null {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  return parameters.length === 0 ? null : badRequest("no parameters are taken here");
}

/**
 * Makes the answer with one row, JSON text; `"data":null` where the caller may not read it. `isRead`: it may be refused
 * where too many bytes wait to be sent. That of a write may not, because the write was carried out.
 */
export async function rowResponse(
  { attempt, succeed }: TableRequest,
  data: string | null,
  status: 200 | 201,
  headers: HeadersRecord = {},
  isRead = false,
): Promise<Response | Refusal> {
  const rows = data === null ? 0 : 1;
  const meta = await (isRead ? succeed(status, rows, data ?? "") : attempt.succeed(status, rows));
  if (isRefusal(meta)) return meta;
  return jsonText(meta === "" ? `{"data":${data}}` : `{"data":${data},"meta":{${meta}}}`, status, headers);
}
