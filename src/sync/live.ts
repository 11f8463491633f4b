import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Commits } from "../platform/commits.js";
import type { PulledPage } from "./pull.js";
import type { Stream } from "./streams.js";

/** What a stream works with. */
export interface LiveSource {
  readonly commits: Commits;
  readonly stream: Stream;
  /** Tells what has changed since a checkpoint, after it has checked the caller. */
  readonly look: (checkpoint: string | null) => Promise<PulledPage | Refusal>;
  /** After how many milliseconds the stream ends and the client comes back; null for never. */
  readonly endsAfterMs: number | null;
}

/** After how many milliseconds without anything else a comment is sent, and the caller is checked again. */
const heartbeatMs = 15_000;

/**
 * The events of a stream (docs/sync.md#live), beginning with a page that was found already. A page is computed when the
 * reader has taken the one before, so that one who reads slowly gets later states and not more of them.
 */
export function liveEvents(first: PulledPage, known: number, source: LiveSource): ReadableStream<Uint8Array> {
  const { commits, stream, look, endsAfterMs } = source;
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const ended = AbortSignal.any([stream.signal, gone.signal]);
  const whole = endsAfterMs === null ? null : commits.within(endsAfterMs);
  let page: PulledPage | null = first;
  let { checkpoint, more } = first;
  let seen = known;
  const next = async (): Promise<string | null> => {
    const quiet = commits.within(heartbeatMs);
    for (;;) {
      if (page !== null) {
        const text = eventsOf(page, page === first);
        page = null;
        if (text !== "") return text;
      }
      if (stream.signal.aborted) return bye("shutdown");
      if (gone.signal.aborted) return null;
      if (whole?.isOver) return bye("limit");
      if (!more) await quiet.next(seen, ended);
      if (ended.aborted) continue;
      seen = commits.known();
      const found = await look(checkpoint);
      if (isRefusal(found)) return found.status === 401 || found.status === 403 ? bye("auth_expired") : null;
      page = found;
      ({ checkpoint, more } = found);
      if (quiet.isOver) return `${eventsOf(found, false)}:\n\n`;
    }
  };
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text = isOver ? null : await next();
        if (text !== null && !gone.signal.aborted) controller.enqueue(encoder.encode(text));
        isOver ||= text === null || text.startsWith("event: bye");
        if (!isOver) return;
        stream.release();
        if (!gone.signal.aborted) controller.close();
      },
      cancel: () => {
        gone.abort();
        stream.release();
      },
    },
    { highWaterMark: 0 },
  );
}

const bye = (reason: "auth_expired" | "shutdown" | "limit") =>
  `event: bye\ndata: ${JSON.stringify({ reason })}\n\n`;

/**
 * A page as events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Only a whole state has an id, so that
 * a client that comes back with the last one begins where it had everything. `isFirst`: it is told even if it is empty.
 */
function eventsOf({ changes, count, more, reset, checkpoint }: PulledPage, isFirst: boolean): string {
  const anew = reset === null ? "" : `event: reset\ndata: ${JSON.stringify({ reason: reset })}\n\n`;
  if (count === 0 && !isFirst && reset === null) return "";
  const id = more ? "" : `id: ${checkpoint}\n`;
  return `${anew}event: change\n${id}data: {"changes":${changes},"more":${more}}\n\n`;
}
