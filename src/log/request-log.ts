import { type AnswerFacts, factsOf } from "../http/answer-facts.js";
import { uuidV7 } from "../metering/uuid.js";
import { Memo } from "../platform/memo.js";
import type { Clock, Log, Random } from "../platform/platform.js";
import { addressPrefix } from "./address-prefix.js";
import { eventOf } from "./event-of.js";
import { instantText } from "./instant-text.js";
import { isWritten, type LogLevel } from "./log-level.js";
import type { LogSettings } from "./message-line.js";
import { parameterNames } from "./parameter-names.js";
import type { RecentRequest, RecentRequests } from "./recent-requests.js";
import { jsonLine, textLine } from "./request-line.js";
import type { RouteOf } from "./route-of.js";
import { traceId } from "./trace-id.js";

/** What the request log works with. */
export interface RequestLogOptions {
  readonly settings: LogSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly routeOf: RouteOf;
  /** The address that a request comes from, given what the runtime passed beside it. */
  readonly clientAddress: (request: Request, env: unknown) => string;
  /** Remembers requests, whether they are written or not. */
  readonly recent: Pick<RecentRequests, "add">;
}

/** Logs a request and its answer, which took `ms` milliseconds. `env` is what the runtime passed beside the request. */
export type RequestLog = (request: Request, env: unknown, answer: Response, ms: number) => void;

const methods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "QUERY",
  "POST",
  "PATCH",
  "PUT",
  "DELETE",
  "OPTIONS",
]);
const noColumns: ReadonlyMap<string, unknown> = new Map();
const addressesBytesMax = 65_536;

/** The request log (`docs/reference/log.md`). Where `log.format` is `off`, requests are remembered alone. */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { settings, clock, random, log, routeOf, clientAddress, recent } = options;
  const written = settings.format === "json" ? jsonLine : textLine;
  const prefixes = new Memo<{ readonly prefix: string | null }>(addressesBytesMax);
  const prefixOf = (address: string) =>
    prefixes.get(address, () => ({ prefix: addressPrefix(address) })).prefix;
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
    const event = eventOf(method, route, status, facts);
    const level = levelOf(status, event !== null);
    // Security events are logged at every `log.level`: who watches over the server has to see them, and may not want
    // every other request.
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

/** What is remembered of the facts: no more of a caller than kind and id, as the objects around may hold an address. */
function rememberedOf({
  principal,
  receipt,
  rule,
}: AnswerFacts): Pick<RecentRequest, "principal" | "rows" | "rule"> {
  return {
    principal: principal === undefined ? null : { kind: principal.kind, id: principal.id ?? null },
    rows: receipt ? [receipt.rowsRead, receipt.rowsWritten, receipt.rowsReturned] : noRows,
    rule: rule ?? null,
  };
}

const noRows: RecentRequest["rows"] = [null, null, null];

/** Whoever watches requests asks for them again and again, and would see little else. */
const ownRoute = "/admin/api/requests";

function levelOf(status: number, isSecurity: boolean): LogLevel {
  if (status >= 500) return "error";
  return isSecurity && status >= 400 ? "warn" : "info";
}
