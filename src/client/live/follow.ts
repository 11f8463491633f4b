import type { SvcError } from "../error.js";
import type { Surroundings } from "../surroundings.js";
import type { Send } from "../transport.js";
import type { Change, Clients, FollowedTables, Follower, LiveState } from "./changes.js";
import { eventReader } from "./event-reader.js";

/** A page of `POST /api/_svc/pull` (`docs/sync.md`). */
export interface Pulled {
  readonly checkpoint: string;
  /** Whether further pages follow that lead to the same moment. */
  readonly more: boolean;
  /** Why this is the first page of all rows, told anew; null where it is not (`docs/sync.md#resets`). */
  readonly reset: string | null;
  readonly changes: readonly Change[];
  /** The last mutation of each client of the caller that is in this state, as in a `Step`. */
  readonly clients?: Clients;
}

/** How calls for changes are sent to the server. */
export interface Line {
  /** Sends a call that may be repeated after a failure. */
  readonly read: Send;
  /** Sends a call once, without trying again. */
  readonly send: Send;
  readonly surroundings: Surroundings;
}

const pageSize = 1000;
const backoffMs = 500;
const backoffMsMax = 30_000;
const live: LiveState = { status: "live", error: null };

/**
 * Follows tables from a checkpoint, null for everything there is, until the signal is aborted, the session is over or
 * the server refuses. The connection is made anew, after growing pauses, whenever it ends. `follower` is also told of
 * each comment that the server sends every 15 s, as a state without a step.
 */
export async function follow(
  { read, send, surroundings }: Line,
  tables: FollowedTables,
  from: string | null,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let checkpoint = from;
  // The last page so far, while all rows are being asked for page by page. It is kept if the connection is cut between
  // two pages.
  let page: Pick<Pulled, "checkpoint" | "more"> | null = null;
  let collected: Change[] = [];
  const add = (changes: readonly Change[]) => {
    for (const change of changes) collected.push(change);
  };
  const whole = (isReset: boolean, clients: Clients | undefined) => {
    const changes = collected;
    collected = [];
    const isStep = changes.length > 0 || isReset || clients !== undefined;
    follower(live, isStep ? { changes, isReset, checkpoint, ...(clients && { clients }) } : null);
  };
  for (let failures = 0; !signal.aborted; failures++) {
    let isReset = false;
    let isBye = false;
    let error: SvcError | null = null;
    const seen = eventReader(({ event, data, id }) => {
      failures = 0;
      if (event === null && collected.length === 0) {
        checkpoint = id ?? checkpoint;
        follower(live, null);
      }
      isBye = event === "bye" && (data as { readonly reason: string }).reason !== "shutdown";
      if (event === "reset") {
        isReset = true;
        collected = [];
        // If the connection is cut before all rows were told anew, they are asked for again.
        checkpoint = null;
      }
      if (event !== "change") return;
      const { changes, more, clients } = data as Pulled;
      add(changes);
      if (more) return;
      checkpoint = id;
      whole(isReset, clients);
      isReset = false;
    });
    try {
      while (checkpoint === null) {
        const body = { tables, checkpoint: page?.checkpoint ?? null, limit: pageSize };
        const found = (await read({ method: "POST", path: "/api/_svc/pull", body, signal })).data as Pulled;
        if (page === null || found.reset !== null) collected = [];
        add(found.changes);
        page = found;
        if (found.more) continue;
        checkpoint = found.checkpoint;
        page = null;
        whole(true, found.clients);
      }
      collected = [];
      const body = { tables, checkpoint };
      await send({ method: "POST", path: "/api/_svc/live", body, signal, onText: seen });
    } catch (failure) {
      error = failure as SvcError;
    }
    if (signal.aborted) return;
    if (error !== null && isFinal(error))
      return follower({ status: error.status === 401 ? "signed_out" : "refused", error }, null);
    if (isBye && failures === 0) continue;
    follower({ status: "reconnecting", error }, null);
    const ms = Math.min(backoffMs * 2 ** failures, backoffMsMax) * (0.5 + surroundings.random() / 2);
    const wanted = (error?.retryAfterSeconds ?? 0) * 1000;
    await untilOnline(Math.max(ms, wanted), signal, surroundings);
  }
}

/**
 * Whether the server itself has refused a call, and would refuse it again. An answer that is not in the server's format
 * is not final: a proxy may have given it.
 */
export function isFinal({ status, code }: SvcError): boolean {
  return (
    code === "bad_call" || (status >= 400 && status < 500 && status !== 429 && code !== "unexpected_answer")
  );
}

/** Resolves after `ms` milliseconds, or earlier if the device gets a connection or the signal is aborted. */
export function untilOnline(ms: number, signal: AbortSignal, { after, online }: Surroundings): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      forget();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = after(ms, done);
    const forget = online(done);
    signal.addEventListener("abort", done);
  });
}
