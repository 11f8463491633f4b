import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Commits } from "../platform/commits.js";
import type { Checkpoint } from "./checkpoint.js";
import { clientsMember, type PulledPage } from "./pull.js";
import type { Streams, SyncCounts } from "./streams.js";

/** What a stream works with. */
export interface LiveSource {
  readonly commits: Commits;
  readonly streams: Pick<Streams, "isEnding" | "whenEnding">;
  /** Gives the stream's place back. */
  readonly release: () => void;
  /** Tells what has changed since a checkpoint, after it has checked the caller. */
  readonly look: (checkpoint: Checkpoint) => Promise<PulledPage | Refusal>;
  /** Seals a checkpoint as text. */
  readonly seal: (checkpoint: Checkpoint) => Promise<string>;
  readonly counts: Pick<SyncCounts, "event" | "reset">;
  /** After how many milliseconds the stream ends and the client comes back; Infinity for never. */
  readonly endsAfterMs: number;
}

/** After how many milliseconds without anything else a comment is sent, and the caller is checked again. */
const heartbeatMs = 15_000;
/** After how many milliseconds it is looked again, where the database had no room or no time. */
const busyMs = 1_000;

/**
 * The events of a stream (docs/sync.md#live), beginning with a page that was found already. A page is computed when the
 * reader has taken the one before, so that one who reads slowly gets later states and not more of them.
 */
export async function liveEvents(
  first: PulledPage,
  known: number,
  source: LiveSource,
): Promise<ReadableStream<Uint8Array>> {
  const { commits, streams, look, seal, counts, endsAfterMs } = source;
  const encoder = new TextEncoder();
  /** Aborted when the client has gone or the process is about to end. */
  const over = new AbortController();
  let isGone = false;
  const forget = streams.whenEnding(() => over.abort());
  const release = () => {
    forget();
    source.release();
  };
  const whole = commits.within(endsAfterMs);
  // Texts alone are kept while a stream waits, and no page.
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
        // A state of which there were pages ends with one that says so, even if nothing comes after them.
        text = await eventsOf(found, more && !found.more, seal);
        if (found.reset !== null) counts.reset(found.reset);
        ({ checkpoint, more, isBehind } = found);
      }
      // With the comment comes where the client is, so that one that was told nothing for long need not begin anew.
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

/** Whether a later look may succeed: what is refused here is work that the database had no room or no time for. */
function isBusy({ status }: Refusal): boolean {
  return status === 429 || status === 503;
}

const bye = (reason: "auth_expired" | "shutdown" | "limit") =>
  `event: bye\ndata: ${JSON.stringify({ reason })}\n\n`;

/**
 * A page as events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Only a whole state has an id, so that
 * a client that comes back with the last one begins where it had everything. `always`: it is told even if it is empty.
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
