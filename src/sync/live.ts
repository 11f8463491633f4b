import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Commits } from "../platform/commits.js";
import type { Checkpoint } from "./checkpoint.js";
import { furtherMembers, type PulledPage } from "./pull.js";
import type { Streams, SyncCounts } from "./streams.js";

/** What a stream of server-sent events needs to work. */
export interface LiveSource {
  readonly commits: Commits;
  readonly streams: Pick<Streams, "isEnding" | "whenEnding">;
  /** Gives back the stream's place: only a limited number of streams may be open at once. */
  readonly release: () => void;
  /** Called when the client has taken the last events. */
  readonly taken: () => void;
  /** Checks the caller of the stream again, and finds what has changed since a checkpoint. */
  readonly look: (checkpoint: Checkpoint) => Promise<PulledPage | Refusal>;
  readonly seal: (checkpoint: Checkpoint) => Promise<string>;
  readonly counts: Pick<SyncCounts, "event" | "reset">;
  /** After how many milliseconds the server ends the stream, and the client opens another one; Infinity for never. */
  readonly endsAfterMs: number;
}

/** After how long a stream's caller is checked again and the client is sent a comment, whatever else it is sent. */
const heartbeatMs = 15_000;
/** How long a stream waits before it looks again, where the database was too busy to answer. */
const busyMs = 1_000;

/**
 * The events of a stream (docs/sync.md#live), beginning with the page `first`. Each page is computed only when the
 * client has taken the one before. So a slow client does not get more pages than it can take, but a later state in
 * each.
 */
export async function liveEvents(
  first: PulledPage,
  known: number,
  source: LiveSource,
): Promise<ReadableStream<Uint8Array>> {
  const { commits, streams, look, seal, counts, endsAfterMs } = source;
  const encoder = new TextEncoder();
  /** Ends the stream's waiting when the client has gone or the process is about to end. */
  const over = new AbortController();
  let isGone = false;
  const forget = streams.whenEnding(() => over.abort());
  const release = () => {
    forget();
    source.taken();
    source.release();
  };
  const whole = commits.within(endsAfterMs);
  // While a stream waits, it keeps only the text of its next events in memory, and not the page, which may be large.
  let { checkpoint, more, isBehind } = first;
  let text = await eventsOf(first, true, seal);
  if (first.reset !== null) counts.reset(first.reset);
  let seen = known;
  /** The time until the next comment. */
  let quiet = commits.within(heartbeatMs);
  const next = async (): Promise<string | null> => {
    if (text === "") source.taken();
    for (;;) {
      if (text !== "") {
        const events = text;
        text = "";
        return events;
      }
      if (isGone) return null;
      if (streams.isEnding) return bye("shutdown");
      if (whole.isOver) return bye("limit");
      if (!more && !isBehind) await quiet.next(seen, over.signal);
      if (over.signal.aborted) continue;
      seen = commits.known();
      const found = await look(checkpoint);
      if (isRefusal(found)) {
        isBehind = isBusy(found);
        if (!isBehind) return found.status === 401 || found.status === 403 ? bye("auth_expired") : null;
        await timePasses(busyMs);
      } else {
        // If earlier pages said that more of a state follows, its last page is sent even if it is empty: it tells the
        // client that the state is complete.
        text = await eventsOf(found, more && !found.more, seal);
        if (found.reset !== null) counts.reset(found.reset);
        ({ checkpoint, more, isBehind } = found);
      }
      // The comment's event id is a checkpoint. So a client that was told nothing for a long time still has a recent
      // one when it reconnects, and need not begin anew.
      if (!quiet.isOver) continue;
      text += more ? ":\n\n" : `:\nid: ${await seal(checkpoint)}\n\n`;
      quiet = commits.within(heartbeatMs);
    }
  };
  const timePasses = async (ms: number) => {
    const time = commits.within(ms);
    while (!time.isOver && !over.signal.aborted) await time.next(commits.known(), over.signal);
  };
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const event = isOver ? null : await next();
        if (event !== null && !isGone) controller.enqueue(encoder.encode(event));
        if (event?.startsWith("event:")) counts.event();
        isOver ||= event === null || event.startsWith("event: bye");
        if (!isOver) return;
        release();
        if (!isGone) controller.close();
      },
      cancel: () => {
        isGone = true;
        over.abort();
        release();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Whether the database was too busy, so that looking for changes again may succeed. */
function isBusy({ status }: Refusal): boolean {
  return status === 429 || status === 503;
}

const bye = (reason: "auth_expired" | "shutdown" | "limit") => `event: bye\ndata: ${JSON.stringify({ reason })}\n\n`;

/**
 * A page as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Only the last page of
 * a state has an id. So a client that reconnects with the last id that it got continues from a state which it had
 * completely. A page that tells nothing becomes an empty text, unless `always` is true.
 */
async function eventsOf(page: PulledPage, always: boolean, seal: LiveSource["seal"]): Promise<string> {
  const { changes, isEmpty, more, reset, checkpoint } = page;
  const anew = reset === null ? "" : `event: reset\ndata: ${JSON.stringify({ reason: reset })}\n\n`;
  if (isEmpty && !always) return "";
  const id = more ? "" : `id: ${await seal(checkpoint)}\n`;
  return `${anew}event: change\n${id}data: {"changes":${changes},"more":${more}${furtherMembers(page)}}\n\n`;
}
