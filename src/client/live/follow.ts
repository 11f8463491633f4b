import { SvcError } from "../error.js";
import type { Surroundings } from "../surroundings.js";
import type { Send } from "../transport.js";
import type { Change, Clients, FollowedTables, Follower, LiveState } from "./changes.js";
import { eventReader } from "./event-reader.js";

/** A page of `POST /api/_svc/pull` (`docs/sync.md`). */
export interface Pulled {
  readonly checkpoint: string;
  /** Whether further pages follow, which together with this one lead to one moment. */
  readonly more: boolean;
  /** Why the server begins again with all rows, with this page first; null if it does not (`docs/sync.md#resets`). */
  readonly reset: string | null;
  /** The tables whose rows are told whole. */
  readonly fresh?: readonly string[];
  /** Why the server does not tell of some of the tables (`docs/sync.md#members`). */
  readonly refused?: Readonly<Record<string, { readonly code: string; readonly message: string }>>;
  readonly changes: readonly Change[];
  /** For each client that has pushed lately, its last mutation in this state; absent if the server does not say. */
  readonly clients?: Clients;
}

/** How calls for changes are sent. */
export interface Line {
  /** Sends a call again after a failure that may pass. */
  readonly read: Send;
  /** Does not send the call again if no answer comes. */
  readonly send: Send;
  readonly surroundings: Surroundings;
}

const pageSize = 1000;
const backoffMs = 500;
const backoffMsMax = 30_000;
const live: LiveState = { status: "live", error: null };

/**
 * Follows tables from a checkpoint, or from null, which asks for all rows, until the signal is aborted, the session is
 * over or the server refuses. When the connection ends, it makes a new one after a pause that grows with each failure.
 * The server also sends a comment every 15 s; `follower` is then called without a step.
 */
export async function follow(
  { read, send, surroundings }: Line,
  tables: FollowedTables,
  from: string | null,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let checkpoint = from;
  // While all rows are asked for: the last page so far. After a cut connection the next page is asked for.
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
    let refusal: SvcError | null = null;
    const ended = new AbortController();
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
        // The server now tells all rows anew. If the connection is cut before the end, they are asked for again.
        checkpoint = null;
      }
      if (event !== "change") return;
      const { changes, more, clients, refused } = data as Pulled;
      refusal = refusalIn(refused);
      if (refusal !== null) return ended.abort();
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
        refusal = refusalIn(found.refused);
        if (refusal !== null) throw refusal;
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
      const stop = AbortSignal.any([signal, ended.signal]);
      await send({ method: "POST", path: "/api/_svc/live", body, signal: stop, onText: seen });
    } catch (failure) {
      error = refusal ?? (failure as SvcError);
    }
    if (signal.aborted) return;
    if (error !== null && isFinal(error))
      return follower({ status: error.status === 401 ? "signed_out" : "refused", error }, null);
    if (isBye && failures === 0) continue;
    follower({ status: "reconnecting", error }, null);
    await untilRetry(failures, error, signal, surroundings);
  }
}

/** The first table that is refused ends it all: who follows several tables wants all of them. */
function refusalIn(refused: Pulled["refused"]): SvcError | null {
  const [first] = Object.values(refused ?? {});
  return first === undefined ? null : new SvcError(403, first.code, first.message);
}

/**
 * Whether the same call would be refused again: by the server (status 4xx, but not 429) or by this client (`bad_call`).
 * An answer that is not in the server's format is not final: a proxy may have given it.
 */
export function isFinal({ status, code }: SvcError): boolean {
  return code === "bad_call" || (status >= 400 && status < 500 && status !== 429 && code !== "unexpected_answer");
}

/**
 * Resolves when a call that has failed is to be tried again, after `failures` others: after a pause that grows with
 * each failure and is at least as long as the server asks for, or earlier if the device gets a connection or the signal
 * is aborted.
 */
export function untilRetry(
  failures: number,
  error: SvcError | null,
  signal: AbortSignal,
  { after, online, random }: Surroundings,
): Promise<void> {
  const ms = Math.min(backoffMs * 2 ** failures, backoffMsMax) * (0.5 + random() / 2);
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      forget();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = after(Math.max(ms, (error?.retryAfterSeconds ?? 0) * 1000), done);
    const forget = online(done);
    signal.addEventListener("abort", done);
  });
}
