import type { Actors } from "../auth/callers.js";
import { type Actor, accountOf, authValues, idOf, longWorkFor, principalOf } from "../auth/principal.js";
import { type AnswerFacts, tellOf } from "../http/answer-facts.js";
import { readAhead } from "../http/body.js";
import { badRequest, isRefusal, type Refusal, responseOf } from "../http/refusal.js";
import type { Attempt, Meter, Subject } from "../metering/attempt.js";
import { type AtOnce, whenThere } from "../platform/at-once.js";
import type { SqlValue, Statements } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { isMetered } from "../project/is-metered.js";
import type { Table } from "../project/model.js";
import type { RuleAction } from "../rules/ast.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";
import { type Access, accessOf } from "./access.js";
import type { WriteExecution } from "./execution.js";
import type { Cursors } from "./list/list-response.js";
import { noPlanChecks } from "./plan-check.js";
import { rememberedOf } from "./remembered.js";
import type { SlotValues } from "./sql/fragment.js";

/** The services that the endpoints under `/api` use. */
export interface ApiServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly callers: Actors;
  readonly projects: ProjectSource;
  readonly cursors: Cursors;
  readonly meter: Meter;
  /** The answer to an exception, which is also logged where it was not expected. */
  readonly failed: (error: unknown) => Refusal;
  /** Whether the header `Svc-Preview` is taken (docs/reference/http.md#previews). */
  readonly takesPreviews: boolean;
}

/** One request to rows of the owner's tables, with all that is needed to answer it. */
export interface ApiRequest {
  readonly services: ApiServices;
  readonly request: Request;
  readonly attempt: Attempt;
  /** Whose rights the request has. */
  readonly caller: Actor;
  /** Who sends it, and whom it is metered for: see `IdentifiedCaller`. */
  readonly by: Actor;
  readonly project: LiveProject;
  /** The database for this request. It adds the check of the caller's credentials to its first round trip. */
  readonly database: Statements;
}

/**
 * Answers a request: authenticates the caller, calls `act`, and records the receipt (what the request cost), also where
 * the answer is an error. `act` tells by `tells` which columns the request is about, for the log.
 */
export async function answered(
  services: ApiServices,
  request: Request,
  act: (asked: ApiRequest, tells: (columns: AnswerFacts["columns"]) => void) => AtOnce<Response | Refusal>,
): Promise<Response> {
  const attempt = services.meter(request.method);
  let answer: Response | Refusal;
  let sender: Actor | undefined;
  let isAs = false;
  let columns: AnswerFacts["columns"];
  const tells = (of: AnswerFacts["columns"]) => {
    columns = of;
  };
  try {
    const body = readAhead(request, services.config.api.max_body_bytes);
    if (body !== undefined) await body;
    answer = await services.callers.run(request.headers, ({ caller, by, schemaVersion }, database) => {
      sender = by;
      isAs = caller !== by;
      return whenThere(services.projects.current(schemaVersion), (project) =>
        isRefusal(project)
          ? project
          : act({ services, request, attempt, caller, by, project, database }, tells),
      );
    });
    // `by` is who the credentials name. It is passed on before the database has checked them, and where the check
    // fails, the log must not name that caller.
    const isChecked = isAs || sender?.kind === "anonymous";
    if (isRefusal(answer) && answer.code === "unauthorized" && !isChecked) sender = undefined;
  } catch (error) {
    answer = services.failed(error);
  }
  const response = responseOf(answer);
  // So that whoever asks as somebody else can tell their refusals from their own.
  if (isAs) response.headers.set("Svc-As", request.headers.get("Svc-As")!);
  const ended = attempt.end(response.status);
  if (ended !== undefined) await ended;
  const principal = sender && accountOf(sender);
  const told = { ...(principal && { principal }), columns, receipt: attempt.receipt() };
  // What somebody else would be refused is nothing that whoever asks was refused.
  tellOf(request, response, isAs ? { ...told, event: "admin_read" } : told);
  return response;
}

/** Refuses to write for somebody whose view is asked for (`Svc-As`); null for everybody else. */
export function asReaderOnly({ caller, by }: Pick<ApiRequest, "caller" | "by">): Refusal | null {
  return caller === by ? null : onlyReads;
}

const onlyReads = badRequest("Svc-As: requests that write take none");

/**
 * Whom what is sealed for a request, such as a cursor, is bound to: it opens for nobody else, and not for the same caller
 * in another way.
 */
export function sealedFor({ caller, by }: Pick<ApiRequest, "caller" | "by">): string {
  return caller === by ? principalOf(caller) : `${principalOf(by)} as ${principalOf(caller)}`;
}

/**
 * What the caller of a request may do with a table. `nowMs` is the time in milliseconds since the epoch. Every write asks
 * here first.
 */
export function accessTo(
  { caller, by, project, services }: ApiRequest,
  table: Table,
  action: RuleAction,
  nowMs: number,
): Access | Refusal {
  const refused = action === "read" || action === "history" ? null : asReaderOnly({ caller, by });
  if (refused !== null) return refused;
  const { accesses } = rememberedOf(project, services.platform);
  const rules = project.rules.get(table.name)!;
  return accessOf(caller, table, rules, action, project.catalog, accesses, Math.floor(nowMs / 1000));
}

/** Begins to meter a request to a table, and gives what it takes to run its statements. */
export function executionOf(
  { services, attempt, caller, by, project, database }: ApiRequest,
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
    longWork: () => longWorkFor(by, config.api, platform.clock.elapsed() - beganMs),
  };
}

/**
 * The values of `auth.id`, `auth.email`, `auth.email_verified` and `now()`, which a rule's SQL has placeholders for.
 * `auth.role` needs none: the SQL is made for the caller's role.
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
