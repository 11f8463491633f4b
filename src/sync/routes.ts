import type { Context } from "hono";
import { withFacts } from "../http/answer-facts.js";
import { AnswerRoom } from "../http/answer-room.js";
import { bytesOver, RequestBody } from "../http/body.js";
import { byMethod } from "../http/by-method.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import { everyAnswer, jsonText } from "../http/respond.js";
import { parseStrictJson } from "../http/strict-json.js";
import { whenThere } from "../platform/at-once.js";
import type { CommitWait } from "../platform/commits.js";
import {
  type ApiRequest,
  type ApiServices,
  answeredOrPending,
  openBytesMax,
  receiversOf,
  refusedEverywhere,
  Unanswered,
} from "../tables/routes/api-request.js";
import type { ServiceEndpoints } from "../tables/routes/routes.js";
import { type Checkpoint, sealCheckpoint } from "./checkpoint.js";
import { liveEvents } from "./live.js";
import { furtherMembers, type PulledPage } from "./pull.js";
import { type ParsedPull, parsePull, pulledBy } from "./pull-request.js";
import type { SharedPages } from "./shared-pages.js";
import type { Streams, SyncCounts } from "./streams.js";

/** What the sync endpoints use. */
export interface SyncServices extends ApiServices {
  readonly streams: Streams;
  readonly sharedPages: SharedPages;
  readonly counts: SyncCounts;
}

/** The endpoints of docs/sync.md, by the last segment of their path. */
export function syncEndpoints(services: SyncServices): ServiceEndpoints {
  const pulled = (c: Context) => pull(services, c);
  const followed = (c: Context) => live(services, c);
  return new Map([
    ["pull", byMethod({ POST: pulled, QUERY: pulled })],
    ["live", byMethod({ GET: followed, POST: followed })],
  ]);
}

/**
 * `POST /api/_svc/pull` (or QUERY): answers with what has changed. With `wait_ms` and a checkpoint, it waits if nothing
 * has changed, and counts as a stream meanwhile.
 */
async function pull(services: SyncServices, c: Context): Promise<Response> {
  const request = c.req.raw;
  const { config, platform, streams } = services;
  const { commits, clock } = platform;
  const body = new RequestBody(request, config.api.max_body_bytes);
  let wait: CommitWait | undefined;
  let release: (() => void) | null | undefined;
  try {
    for (;;) {
      const known = commits.known();
      const answer = await answeredOrPending(
        services,
        c,
        async (asked) => {
          const refusal = refusedEverywhere(asked, ["read"]);
          if (refusal !== null) return refusal;
          const sent = await body.jsonObject(openBytesMax(asked));
          const parsed = isRefusal(sent) ? sent : parsePull(sent, false);
          if (isRefusal(parsed)) return parsed;
          const short = parsed.waitMs === 0 ? null : await body.text(bytesMaxOf(asked));
          if (isRefusal(short)) return short;
          const page = await pulledBy(asked, parsed, services.sharedPages);
          if (isRefusal(page)) return page;
          if (page.reset !== null) services.counts.reset(page.reset);
          wait ??= commits.within(parsed.checkpoint === null ? 0 : parsed.waitMs);
          if (!page.isEmpty || page.more || wait.isOver || streams.isEnding) return pulledResponse(asked, page);
          const nowMs = clock.elapsed();
          release ??= streams.take(asked.by, services.clientOf(c), nowMs, nowMs + parsed.waitMs);
          if (release === null) return tooMany;
          if (!page.isQuiet) await asked.attempt.succeed(200, 0);
          return new Unanswered(wait);
        },
        body,
      );
      if (answer instanceof Response) return answer;
      const over = new AbortController();
      const forget = streams.whenEnding(() => over.abort());
      await answer.value.next(known, AbortSignal.any([request.signal, over.signal]));
      services.counts.looked();
      forget();
      // The client has gone.
      if (request.signal.aborted) return withFacts(new Response(null, { status: 204 }), answer.facts);
    }
  } finally {
    release?.();
  }
}

/**
 * The most bytes in the body of a request that waits or opens a stream; callers without credentials have fewer
 * (`openBytesMax`). The body stays in memory meanwhile, and a waiting pull reads it again after each commit.
 */
const waitingBytesMax = 65_536;
const bytesMaxOf = (asked: Parameters<typeof openBytesMax>[0]) => Math.min(waitingBytesMax, openBytesMax(asked));

async function pulledResponse({ succeed, services }: ApiRequest, page: PulledPage): Promise<Response | Refusal> {
  const { changes, count, more, reset } = page;
  const checkpoint = await sealCheckpoint(services.cursors, page.checkpoint);
  const data = `{"checkpoint":"${checkpoint}","more":${more},"reset":${JSON.stringify(reset)},"changes":${changes}${furtherMembers(page)}}`;
  const metered = await succeed(200, count, changes);
  if (isRefusal(metered)) return metered;
  return jsonText(`{"data":${data},"meta":{${metered}}}`);
}

/** `GET /api/_svc/live?q=…` and `POST /api/_svc/live`: a stream of server-sent events of what has changed. */
async function live(services: SyncServices, c: Context): Promise<Response> {
  const request = c.req.raw;
  const { platform, streams, config } = services;
  const { commits, clock } = platform;
  const known = commits.known();
  const body = new RequestBody(request, config.api.max_body_bytes);
  const client = services.clientOf(c);
  const begun = await answeredOrPending(
    services,
    c,
    async (asked) => {
      const refusal = refusedEverywhere(asked, ["read"]);
      if (refusal !== null) return refusal;
      const bytesMax = bytesMaxOf(asked);
      const sent = request.method === "GET" ? queryOf(c, bytesMax) : await body.jsonObject(bytesMax);
      const read = isRefusal(sent) ? sent : parsePull(sent, true);
      if (isRefusal(read)) return read;
      const lastId = request.headers.get("Last-Event-ID");
      const parsed = lastId === null || lastId === "" ? read : { ...read, checkpoint: lastId };
      const page = await pulledBy(asked, parsed, services.sharedPages);
      if (isRefusal(page)) return page;
      const room = new AnswerRoom(services.unsent, () => receiversOf(asked.by, client));
      const busy = room.take(page.changes.length);
      if (busy !== null) return busy;
      try {
        await asked.attempt.succeed(200, page.count);
      } catch (error) {
        room.giveBack();
        throw error;
      }
      return new Unanswered({ parsed, page, by: asked.by, room });
    },
    body,
  );
  if (begun instanceof Response) return begun;
  const { parsed, by, room } = begun.value;
  const nowMs = clock.elapsed();
  const lastsMs = platform.requestsVanish ? streamMsMax : Number.POSITIVE_INFINITY;
  const release = streams.take(by, client, nowMs, nowMs + lastsMs);
  if (release === null) {
    room.giveBack();
    return tooMany.toResponse();
  }
  const source = {
    commits,
    streams,
    release,
    seal: (checkpoint: Checkpoint) => sealCheckpoint(services.cursors, checkpoint),
    counts: services.counts,
    endsAfterMs: lastsMs,
    // It lives as long as the stream, so it must not keep the first page alive: no closure here may name `begun`.
    taken: () => room.giveBack(),
    look: (checkpoint: Checkpoint) => look(services, request, client, { ...parsed, checkpoint, isStream: true }, room),
  };
  const events = await liveEvents(begun.value.page, known, source);
  const headers = { ...everyAnswer, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" };
  return withFacts(new Response(events, { headers: { ...headers, ...begun.headers } }), begun.facts);
}

/**
 * How many milliseconds a stream lasts on a runtime that may cancel requests (a Worker). Such a runtime limits how long
 * a request may last, or how much it may ask of other services.
 */
const streamMsMax = 240_000;
const tooMany = new Refusal("rate_limited", "too many streams are open", { headers: { "Retry-After": "5" } });

/** The JSON object in the query parameter `q`; a refusal where it is missing, not valid, or too long. */
function queryOf(c: Context, bytesMax: number): Readonly<Record<string, unknown>> | Refusal {
  const [text, ...more] = c.req.queries("q") ?? [];
  if (text === undefined || more.length > 0) return badRequest("q: expected the request as JSON");
  if (bytesOver(text, bytesMax)) return new Refusal("payload_too_large", `q is over ${bytesMax} bytes`);
  const parsed = parseStrictJson(text);
  if (isRefusal(parsed)) return parsed;
  const { value } = parsed;
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : badRequest("q: expected a JSON object");
}

/** Checks a stream's caller again, and finds what has changed. Metering records nothing where no row was looked at. */
async function look(
  services: SyncServices,
  request: Request,
  client: string,
  asked: ParsedPull,
  room: AnswerRoom,
): Promise<PulledPage | Refusal> {
  const attempt = services.meter(request.method);
  services.counts.looked();
  try {
    const page = await services.callers.run(request.headers, ({ schemaVersion, ...who }, database) =>
      whenThere(services.projects.current(schemaVersion), (project) =>
        isRefusal(project)
          ? project
          : pulledBy(
              { services, request, attempt, ...who, project, database, client: () => client },
              asked,
              services.sharedPages,
            ),
      ),
    );
    if (isRefusal(page)) return page;
    const busy = room.take(page.changes.length);
    if (busy === null && !page.isQuiet) await attempt.succeed(200, page.count);
    return busy ?? page;
  } catch (error) {
    room.giveBack();
    return services.failed(error);
  }
}
