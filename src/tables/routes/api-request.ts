import type { Context } from "hono";
import type { Actors } from "../../auth/callers/callers.js";
import {
  type Actor,
  accountOf,
  authValues,
  idOf,
  isPastRules,
  longWorkFor,
  principalOf,
} from "../../auth/callers/principal.js";
import { type AnswerFacts, addFacts } from "../../http/answer-facts.js";
import { AnswerRoom } from "../../http/answer-room.js";
import { RequestBody } from "../../http/body.js";
import { badRequest, isRefusal, Refusal, responseOf } from "../../http/refusal.js";
import type { HeadersRecord } from "../../http/respond.js";
import type { UnsentBytes } from "../../http/unsent-bytes.js";
import type { Attempt, Meter, Subject } from "../../metering/attempt.js";
import { type AtOnce, whenThere } from "../../platform/at-once.js";
import type { SqlValue, Statements } from "../../platform/database.js";
import type { Platform } from "../../platform/platform.js";
import type { Config } from "../../project/config.js";
import { isMetered } from "../../project/is-metered.js";
import type { Table } from "../../project/model.js";
import type { RuleAction } from "../../rules/ast.js";
import type { LiveProject } from "../../schema/live-project.js";
import type { ProjectSource } from "../../schema/project-source.js";
import { type Access, accessOf } from "../access/access.js";
import type { Succeed, WriteExecution } from "../execution/execution.js";
import type { Cursors } from "../list/list-response.js";
import { noPlanChecks } from "../plan/plan-check.js";
import type { SlotValues } from "../sql-text/fragment.js";
import { rememberedOf } from "./remembered.js";

/** The services that the endpoints under `/api` and `/admin/api/data` use. */
export interface ApiServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly callers: Actors;
  readonly projects: ProjectSource;
  readonly cursors: Cursors;
  readonly meter: Meter;
  /** Makes the answer to an exception that a request has thrown, and logs the exception where it was not expected. */
  readonly failed: (error: unknown) => Refusal;
  /** The IP address that a request comes from, or the part of it that counts as one client. */
  readonly clientOf: (c: Context) => string;
  readonly unsent: UnsentBytes;
  /**
   * Whether a request may ask by the header `Svc-Preview` for the beginnings of long values alone
   * (docs/reference/http.md#previews). It may under `/admin/api/data`; under `/api` the header is ignored.
   */
  readonly takesPreviews: boolean;
}

/** A request to rows of the project's tables, with all that is needed to answer it. */
export interface ApiRequest {
  readonly services: ApiServices;
  readonly request: Request;
  readonly body: RequestBody;
  readonly attempt: Attempt;
  /** The caller whose rights decide what the request may do. */
  readonly caller: Actor;
  /**
   * Who sends the request and is metered for it. It differs from `caller` only where an administrator asks for the view
   * of somebody else, who is then the `caller` (see `IdentifiedCaller`).
   */
  readonly by: Actor;
  readonly project: LiveProject;
  /** The database for this request. It adds the check of the caller's credentials to its first round trip. */
  readonly database: Statements;
  /** The client's address (`ApiServices.clientOf`). */
  readonly client: () => string;
  readonly succeed: Succeed;
  /** As in `Execution`. */
  readonly takeRoom?: (bytes: number) => Refusal | null;
}

/** What `act` of `answered` returns where the request is not answered yet: it waits, or becomes a stream. */
export class Unanswered<T> {
  constructor(readonly value: T) {}
}

/** A request that is not answered yet, with what its answer has to carry. */
export interface PendingResponse<T> {
  readonly value: T;
  readonly facts: AnswerFacts;
  readonly headers: HeadersRecord;
}

/**
 * Makes what a request is answered with. It calls `reportColumns` with the columns of the table that the request is
 * about.
 */
type Act<A> = (asked: ApiRequest, reportColumns: (columns: AnswerFacts["columns"]) => void) => AtOnce<A>;

/**
 * Answers a request: authenticates the caller, lets `act` make the answer, and records the receipt, also where the
 * answer is an error.
 */
export function answered(services: ApiServices, c: Context, act: Act<Response | Refusal>): Promise<Response> {
  return answeredOrPending<never>(services, c, act) as Promise<Response>;
}

/**
 * As `answered`, for requests that `act` may leave unanswered. `body` is given where the request is answered more than
 * once.
 */
export async function answeredOrPending<T>(
  services: ApiServices,
  c: Context,
  act: Act<Response | Refusal | Unanswered<T>>,
  body = new RequestBody(c.req.raw, services.config.api.max_body_bytes),
): Promise<Response | PendingResponse<T>> {
  const request = c.req.raw;
  const client = () => services.clientOf(c);
  const attempt = services.meter(request.method);
  const room = new AnswerRoom(services.unsent, () => receiversOf(sender!, client()));
  const takeRoom = (bytes: number) => room.take(bytes);
  const succeed: Succeed = async (status, rows, data) => room.take(data.length) ?? attempt.succeed(status, rows);
  let answer: Response | Refusal | Unanswered<T>;
  let sender: Actor | undefined;
  let isAs = false;
  let columns: AnswerFacts["columns"];
  const reportColumns = (of: AnswerFacts["columns"]) => {
    columns = of;
  };
  try {
    const ahead = body.ahead();
    if (ahead !== undefined) await ahead;
    answer = await services.callers.run(request.headers, ({ caller, by, schemaVersion }, database) => {
      sender = by;
      isAs = caller !== by;
      return whenThere(services.projects.current(schemaVersion), (project) =>
        isRefusal(project)
          ? project
          : act(
              { services, request, body, attempt, caller, by, project, database, client, succeed, takeRoom },
              reportColumns,
            ),
      );
    });
    // `run` gives the caller whom the credentials claim before the database has checked them. Where the check fails,
    // the log must not name that caller.
    const isChecked = isAs || sender?.kind === "anonymous";
    if (isRefusal(answer) && answer.code === "unauthorized" && !isChecked) sender = undefined;
  } catch (error) {
    answer = services.failed(error);
  }
  // The answer to a request with the header `Svc-As` repeats that header. An administrator's page tells by it that a
  // 401 or 403 is the answer to the other caller, and not to the administrator.
  const as = isAs ? request.headers.get("Svc-As") : null;
  if (answer instanceof Unanswered) room.giveBack();
  const response = answer instanceof Unanswered ? null : room.sent(request, responseOf(answer));
  if (as !== null) response?.headers.set("Svc-As", as);
  const ended = attempt.end(response?.status ?? unansweredStatus);
  if (ended !== undefined) await ended;
  const principal = sender && accountOf(sender);
  const known = { ...(principal && { principal }), columns, receipt: attempt.receipt() };
  // A request for somebody else's view is logged as `admin_read` even if it is refused: it is the other caller who
  // would be refused, not the administrator.
  const facts: AnswerFacts = isAs ? { ...known, event: "admin_read" } : known;
  if (response === null)
    return { value: (answer as Unanswered<T>).value, facts, headers: as === null ? {} : { "Svc-As": as } };
  addFacts(request, response, facts);
  return response;
}

/** For whom an answer waits to be sent: anonymous callers are told apart by their addresses. */
export function receiversOf(by: Actor, address: string): readonly string[] {
  return by.kind === "anonymous" ? [`address ${address}`] : [principalOf(by), `address ${address}`];
}

/** The status in the receipt of a request that has read rows and is not answered yet. */
const unansweredStatus = 204;

/**
 * Refuses a request that writes where an administrator asks for somebody else's view (`Svc-As`), which is for reading
 * alone; null for all other requests.
 */
export function asReaderOnly({ caller, by }: Pick<ApiRequest, "caller" | "by">): Refusal | null {
  return caller === by ? null : onlyReads;
}

const onlyReads = badRequest("Svc-As: requests that write take none");

/**
 * Returns the text that names who may use what is sealed for a request, such as a cursor: it opens for nobody else. It
 * is another text for an administrator's view of a caller than for that caller's own requests.
 */
export function sealedFor({ caller, by }: Pick<ApiRequest, "caller" | "by">): string {
  return caller === by ? principalOf(caller) : `${principalOf(by)} as ${principalOf(caller)}`;
}

/**
 * Decides what the caller of a request may do with a table by an action. Refuses an action that writes where an
 * administrator asks for somebody else's view. `nowMs` is the time in milliseconds since the epoch.
 */
export function accessTo(
  { caller, by, project, services }: Omit<ApiRequest, "body" | "succeed">,
  table: Table,
  action: RuleAction,
  nowMs: number,
): Access | Refusal {
  const refused = action === "read" || action === "history" ? null : asReaderOnly({ caller, by });
  if (refused !== null) return refused;
  const unfit = isPastRules(caller) ? undefined : project.unfit.get(table.name);
  if (unfit !== undefined) return unfit;
  return accessOf({
    caller,
    table,
    rules: project.rules.get(table.name)!,
    action,
    catalog: project.catalog,
    known: rememberedOf(project, services.platform).accesses,
    nowSeconds: Math.floor(nowMs / 1000),
  });
}

/** How many bytes the body of a caller without credentials may have at endpoints about several tables or lists. */
const anonymousBytesMax = 16_384;

/** How many bytes a body may have at endpoints that anybody may call to read, and at `/_svc/batch`. */
export function openBytesMax({ caller, services }: Pick<ApiRequest, "caller" | "services">): number {
  const { max_body_bytes } = services.config.api;
  return caller.kind === "anonymous" ? Math.min(anonymousBytesMax, max_body_bytes) : max_body_bytes;
}

/**
 * Refuses a request if its caller may do none of these actions with any table. It is asked before the body is parsed,
 * which says the tables that the request is about. Null if the caller may do one of them.
 */
export function refusedEverywhere(asked: Omit<ApiRequest, "body" | "succeed">, actions: readonly RuleAction[]) {
  const nowMs = asked.services.platform.clock.now();
  let refusal: Refusal | null = null;
  for (const table of asked.project.schema.tables.values())
    for (const action of actions) {
      const access = accessTo(asked, table, action, nowMs);
      if (!isRefusal(access)) return null;
      refusal = access;
    }
  return refusal && new Refusal(refusal.code, refusal.message);
}

/** Begins to meter a request to a table, and returns what is needed to run its statements. */
export function executionOf(
  { services, attempt, caller, by, project, database, client, takeRoom }: Omit<ApiRequest, "body" | "succeed">,
  table: string,
  action: Subject["action"],
  nowMs: number,
): WriteExecution {
  const { config, platform } = services;
  const beganMs = platform.clock.elapsed();
  const principalId = idOf(by);
  return {
    database,
    tally: attempt.begin({ principalKind: by.kind, principalId, table, action }),
    plans: isMetered(config) ? rememberedOf(project, platform).plans : noPlanChecks,
    values: callerValues(caller, Math.floor(nowMs / 1000)),
    nowMs,
    random: platform.random,
    changedBy: () => ({
      principalKind: accountOf(by).kind,
      principalId,
      at: nowMs,
      attemptId: attempt.id(),
    }),
    longWork: () => longWorkFor(by, config.api, platform.clock.elapsed() - beganMs, client()),
    ...(takeRoom && { takeRoom }),
  };
}

/**
 * Returns the values of `auth.id`, `auth.email`, `auth.email_verified` and `now()`, for which a rule's SQL has
 * placeholders. `auth.role` needs none: the SQL is made for the caller's role.
 */
export function callerValues(caller: Actor, nowSeconds: number): SlotValues {
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
