import { SvcError } from "../error.js";
import type { Surroundings } from "../surroundings.js";
import type { Send } from "../transport.js";
import type { Change, Clients, LiveState } from "./changes.js";
import { eventReader } from "./event-reader.js";
import type { Members } from "./members.js";

/** A page of `POST /api/_svc/pull` (`docs/sync.md`). */
export interface Pulled {
  readonly checkpoint: string;
  /** Whether further pages follow, which together with this one lead to one moment. */
  readonly more: boolean;
  /** Why the server begins again with all rows, with this page first; null if it does not (`docs/sync.md#resets`). */
  readonly reset: string | null;
  /** The members whose rows are told whole (`docs/sync.md#members`); absent if there are none. */
  readonly fresh?: readonly string[];
  /** Why the server does not tell of some of the members; absent if it tells of all. */
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

/** What is followed. It may change meanwhile. */
export interface Followed {
  members(): Members;
  /** Calls `changed` when the members are others. Returns a function that ends this. */
  listen(changed: () => void): () => void;
}

/** The changes that lead from one consistent state of all members to the next. */
export interface StreamStep {
  readonly changes: readonly Change[];
  /** The members whose rows are all among the changes, and replace what was known before. */
  readonly fresh: readonly string[];
  /** Why the server does not tell of some of the members, by their names. */
  readonly refused: Readonly<Record<string, SvcError>>;
  readonly checkpoint: string;
  readonly clients?: Clients;
}

/** Called with every step, and with every change of state and every comment of the server: `step` is then null. */
export type StreamFollower = (state: LiveState, step: StreamStep | null) => void;

const pageSize = 1000;
const backoffMs = 500;
const backoffMsMax = 30_000;
const live: LiveState = { status: "live", error: null };

/** What pages and events have told of a state whose end has not come yet. */
class Partial {
  changes: Change[] = [];
  readonly fresh = new Set<string>();
  refused: Pulled["refused"] = {};

  add({ changes, fresh = [], refused }: Pick<Pulled, "changes" | "fresh" | "refused">): void {
    for (const change of changes) this.changes.push(change);
    for (const name of fresh) this.fresh.add(name);
    this.refused = refused;
  }

  step(checkpoint: string, clients: Clients | undefined): StreamStep | null {
    const refused = Object.fromEntries(
      Object.entries(this.refused ?? {}).map(([name, { code, message }]) => [name, new SvcError(400, code, message)]),
    );
    const step = { changes: this.changes, fresh: [...this.fresh], refused, checkpoint, ...(clients && { clients }) };
    const isEmpty = step.changes.length + step.fresh.length + Object.keys(refused).length === 0;
    return isEmpty && clients === undefined ? null : step;
  }
}

/**
 * Follows members from a checkpoint, or from null, which asks for all rows, until the signal is aborted, the session is
 * over or the server refuses. `known` are those members of the checkpoint whose rows the caller has. When the connection
 * ends, it makes a new one after a pause that grows with each failure. If the members change, it makes a new one at once:
 * members that were followed before go on, and the others begin. The server also sends a comment every 15 s; `follower` is
 * then called without a step.
 */
export async function follow(
  { read, send, surroundings }: Line,
  followed: Followed,
  from: { readonly checkpoint: string; readonly known: Iterable<string> } | null,
  follower: StreamFollower,
  signal: AbortSignal,
): Promise<void> {
  let checkpoint = from?.checkpoint ?? null;
  let known = new Set(from?.known);
  // All members that the checkpoint has; null where that is not known.
  let covered: ReadonlySet<string> | null = null;
  // What pages have been asked for, and the checkpoint of the last one, where others follow. After a cut connection the
  // next page is asked for.
  let page: { readonly checkpoint: string; readonly members: Members } | null = null;
  let partial = new Partial();
  const whole = (at: string, members: Members, clients: Clients | undefined) => {
    const step = partial.step(at, clients);
    partial = new Partial();
    checkpoint = at;
    covered = new Set(Object.keys(members));
    known = new Set(covered);
    follower(live, step);
  };
  /** Pulls pages until they are whole. Members that are added meanwhile are asked for with the next page. */
  const pull = async (members: () => Members) => {
    for (;;) {
      const asked: Members = { ...page?.members, ...members() };
      const body = { tables: asked, checkpoint: page?.checkpoint ?? checkpoint, limit: pageSize };
      const found = (await read({ method: "POST", path: "/api/_svc/pull", body, signal })).data as Pulled;
      if (page === null || found.reset !== null) partial = new Partial();
      partial.add(found);
      page = found.more ? { checkpoint: found.checkpoint, members: asked } : null;
      if (page === null) return whole(found.checkpoint, asked, found.clients);
    }
  };
  /** Brings the client to a state that has all members. Returns them; null where there are none. */
  const begin = async (): Promise<Members | null> => {
    for (;;) {
      const members = followed.members();
      const names = Object.keys(members);
      if (names.length === 0) return null;
      known = new Set(names.filter((name) => known.has(name)));
      const added = names.filter((name) => !known.has(name));
      if (added.length === 0 && checkpoint !== null && page === null) return members;
      // The server would go on with members that the checkpoint has, although their rows were dropped. So a checkpoint
      // without them is asked for first.
      const isForgotten = (name: string) => covered === null || covered.has(name);
      if (checkpoint !== null && page === null && added.some(isForgotten)) {
        if (known.size === 0) checkpoint = null;
        else await pull(() => Object.fromEntries([...known].map((name) => [name, members[name]!])));
      }
      if (checkpoint === null || page !== null || names.some((name) => !known.has(name))) await pull(followed.members);
    }
  };
  for (let failures = 0; !signal.aborted; failures++) {
    const changed = new AbortController();
    const forget = followed.listen(() => changed.abort());
    const stop = AbortSignal.any([signal, changed.signal]);
    let isBye = false;
    let error: SvcError | null = null;
    try {
      const members = await begin();
      const seen = eventReader(({ event, data, id }) => {
        if (stop.aborted) return;
        failures = 0;
        if (event === null && partial.changes.length === 0) {
          checkpoint = id ?? checkpoint;
          follower(live, null);
        }
        isBye = event === "bye" && (data as { readonly reason: string }).reason !== "shutdown";
        if (event === "reset") {
          partial = new Partial();
          // The server now tells all rows anew. If the connection is cut before the end, they are asked for again.
          checkpoint = null;
        }
        if (event !== "change") return;
        const { more, clients } = data as Pulled;
        partial.add(data as Pulled);
        if (!more) whole(id!, members!, clients);
      });
      partial = new Partial();
      if (members === null) await aborted(stop);
      else {
        const body = { tables: members, checkpoint };
        await send({ method: "POST", path: "/api/_svc/live", body, signal: stop, onText: seen });
      }
    } catch (failure) {
      error = failure as SvcError;
    } finally {
      forget();
    }
    if (signal.aborted) return;
    if (changed.signal.aborted) {
      failures = -1;
      continue;
    }
    if (error !== null && isFinal(error))
      return follower({ status: error.status === 401 ? "signed_out" : "refused", error }, null);
    if (isBye && failures === 0) continue;
    follower({ status: "reconnecting", error }, null);
    await untilRetry(failures, error, signal, surroundings);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
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
