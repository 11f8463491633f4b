import { type AnswerFacts, factsOf } from "../http/answer-facts.js";
import { uuidV7 } from "../metering/uuid.js";
import { Memo } from "../platform/memo.js";
import type { Clock, Log, Random } from "../platform/platform.js";
import { addressPrefix } from "./address-prefix.js";
import { type EndingsByRoute, eventOf } from "./event-of.js";
import { instantText } from "./instant-text.js";
import { isWritten, type LogLevel } from "./log-level.js";
import type { LogSettings } from "./message-line.js";
import type { ParameterNames } from "./parameter-names.js";
import type { RecentRequest, RecentRequests } from "./recent-requests.js";
import { jsonLine, textLine } from "./request-line.js";
import type { RouteOf } from "./route-of.js";
import { traceId } from "./trace-id.js";

/** What the request log needs. */
export interface RequestLogOptions {
  readonly settings: LogSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly routeOf: RouteOf;
  readonly endings: EndingsByRoute;
  readonly parameterNames: ParameterNames;
  /** The IP address that a request comes from. `env` is what the runtime passed with the request. */
  readonly clientAddress: (request: Request, env: unknown) => string;
  /** Remembers the last requests for administrators, whether they are written to the log or not. */
  readonly recent: Pick<RecentRequests, "add">;
}

/** Logs a request whose answer took `ms` milliseconds. `env` is what the runtime passed with the request. */
export type RequestLog = (request: Request, env: unknown, answer: Response, ms: number) => void;

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "QUERY", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);
const noColumns: ReadonlyMap<string, unknown> = new Map();
const addressesBytesMax = 65_536;

/** Makes the request log (`docs/reference/log.md`). If `log.format` is `off`, requests are only remembered. */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { settings, clock, random, log, routeOf, endings, parameterNames, clientAddress, recent } = options;
  const written = settings.format === "json" ? jsonLine : textLine;
  const prefixes = new Memo<{ readonly prefix: string | null }>(addressesBytesMax);
  const prefixOf = (address: string) => prefixes.get(address, () => ({ prefix: addressPrefix(address) })).prefix;
  return (request, env, answer, ms) => {
    const { status } = answer;
    const method = methods.has(request.method) ? request.method : "-";
    const route = routeOf(request);
    const facts = factsOf(request, answer);
    const nowMs = clock.now();
    const id = facts.receipt?.attemptId ?? uuidV7(nowMs, random.bytes(10));
    const tenths = Math.round(ms * 10) / 10;
    if (route !== ownRoute) {
      recent.add({ id, atMs: nowMs, method, route, status, ms: tenths, ...rememberedOf(facts) });
    }
    if (settings.format === "off") return;
    const event = eventOf(method, route, status, facts, endings);
    const level = levelOf(status, event !== null);
    // Security events are logged at every `log.level`: the person who watches over the server has to see them, even if
    // other requests are not logged.
    if (event === null && !isWritten(level, settings.level)) return;
    const line = written({
      time: instantText(nowMs),
      level,
      id,
      trace: traceId(request.headers.get("traceparent")),
      method,
      route,
      status,
      ms: tenths,
      address: settings.addresses === "off" ? null : prefixOf(clientAddress(request, env)),
      event,
      parameters: settings.level === "debug" ? parameterNames(request.url, facts.columns ?? noColumns) : null,
      facts,
    });
    log.line(line);
  };
}

/** Of the caller only kind and id, because the object in the facts may also hold an email address. */
function rememberedOf({ principal, receipt, rule }: AnswerFacts): Pick<RecentRequest, "principal" | "rows" | "rule"> {
  return {
    principal: principal === undefined ? null : { kind: principal.kind, id: principal.id ?? null },
    rows: receipt ? [receipt.rowsRead, receipt.rowsWritten, receipt.rowsReturned] : noRows,
    rule: rule ?? null,
  };
}

const noRows: RecentRequest["rows"] = [null, null, null];

/**
 * Requests for the remembered requests are not remembered: the console sends one after the other to show new requests,
 * and would then see little else.
 */
const ownRoute = "/admin/api/requests";

function levelOf(status: number, isSecurity: boolean): LogLevel {
  if (status >= 500) return "error";
  return isSecurity && status >= 400 ? "warn" : "info";
}
