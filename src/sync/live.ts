import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Commits } from "../platform/commits.js";
import type { Checkpoint } from "./checkpoint.js";
import { clientsMember, type PulledPage } from "./pull.js";
import type { Streams, SyncCounts } from "./streams.js";

/** What a stream of changes (server-sent events) works with. */
export interface LiveSource {
  readonly commits: Commits;
  readonly streams: Pick<Streams, "isEnding" | "whenEnding">;
  /** Gives back the place of the stream, as only so many may be open. */
  readonly release: () => void;
  /** Tells what has changed since a checkpoint, after it has checked the caller. */
  readonly look: (checkpoint: Checkpoint) => Promise<PulledPage | Refusal>;
  /** Seals a checkpoint as text. */
  readonly seal: (checkpoint: Checkpoint) => Promise<string>;
  readonly counts: Pick<SyncCounts, "event" | "reset">;
  /** After how many milliseconds the server ends the stream, and the client opens another one; Infinity for never. */
  readonly endsAfterMs: number;
}

/** After how many milliseconds in which nothing was sent a stream gets a comment, and its caller is checked again. */
const heartbeatMs = 15_000;
/** After how many milliseconds a stream looks again for changes, where the database had no room or no time. */
const busyMs = 1_000;

/**
 * The events of a stream (docs/sync.md#live), beginning with a page that was found already. A page is computed when the
 * client has taken the one before, so that one who reads slowly gets later states and not more of them.
 */
export async function liveEvents(
  first: PulledPage,
  known: number,
  source: LiveSource,
): Promise<ReadableStream<Uint8Array>> {
  const { commits, streams, look, seal, counts, endsAfterMs } = source;
  const encoder = new TextEncoder();
  /** Aborted when the stream's client has gone or the process is about to end. */
  const over = new AbortController();
  let isGone = false;
  const forget = streams.whenEnding(() => over.abort());
  const release = () => {
    forget();
    source.release();
  };
  const whole = commits.within(endsAfterMs);
  // While a stream waits, it keeps the text of its next events and no page, as a page takes memory.
  let { checkpoint, more, isBehind } = first;
  let text = await eventsOf(first, true, seal);
  if (first.reset !== null) counts.reset(first.reset);
  let seen = known;
  const next = async (): Promise<string | null> => {
    const quiet = commits.within(heartbeatMs);
    for (;;) {
      if (text !== "") {
        const told = text;
        text = "";
        return told;
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
        // Where pages before said that more of a state follows, its last page is sent even if it is empty, to say that
        // this was all.
        text = await eventsOf(found, more && !found.more, seal);
        if (found.reset !== null) counts.reset(found.reset);
        ({ checkpoint, more, isBehind } = found);
      }
      // The comment carries a checkpoint as its id, so that a client that was told nothing for long need not begin
      // anew.
      if (quiet.isOver) text += more ? ":\n\n" : `:\nid: ${await seal(checkpoint)}\n\n`;
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
        const told = isOver ? null : await next();
        if (told !== null && !isGone) controller.enqueue(encoder.encode(told));
        if (told?.startsWith("event:")) counts.event();
        isOver ||= told === null || told.startsWith("event: bye");
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

/** Whether looking again may succeed after this refusal: the database had no room or no time for the work. */
function isBusy({ status }: Refusal): boolean {
  return status === 429 || status === 503;
}

const bye = (reason: "auth_expired" | "shutdown" | "limit") =>
  `event: bye\ndata: ${JSON.stringify({ reason })}\n\n`;

/**
 * A page of changes as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Only the
 * last page of a state has an id, so that a client that comes back with the last id begins where it had everything.
 * `always`: the page is told even if it is empty.
 */
async function eventsOf(
  { changes, count, more, reset, checkpoint, clients }: PulledPage,
  always: boolean,
  seal: LiveSource["seal"],
): Promise<string> {
  const anew = reset === null ? "" : `event: reset\ndata: ${JSON.stringify({ reason: reset })}\n\n`;
  if (count === 0 && !always && reset === null) return "";
  const id = more ? "" : `id: ${await seal(checkpoint)}\n`;
  return `${anew}event: change\n${id}data: {"changes":${changes},"more":${more}${clientsMember(clients)}}\n\n`;
}
