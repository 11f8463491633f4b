import { SvcError } from "../error.js";
import type { Surroundings } from "../surroundings.js";
import type { Send } from "../transport.js";
import type { Change, Clients, LiveState } from "./changes.js";
import { eventReader } from "./event-reader.js";
import type { Members } from "./members.js";
import type { Pulled } from "./pulled.js";

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
  /** Whether whoever follows has the rows of a member. */
  holds(name: string): boolean;
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
  readonly clients?: Clients;
}

/** What is told of a stream. */
export interface StreamListener {
  /** Called with every step, with every change of state, and whenever the server is heard: `step` is null then. */
  told(state: LiveState, step: StreamStep | null, checkpoint: string | null): void;
  /** The server refuses these members, and they are not asked for again. */
  refused(names: readonly string[], error: SvcError): void;
}

const pageSize = 1000;
const backoffMs = 500;
const backoffMsMax = 30_000;
const live: LiveState = { status: "live", error: null };
/** The statuses of refusals that a member has by itself. */
const statuses: Readonly<Record<string, number>> = { unauthorized: 401, forbidden: 403, not_found: 404 };

/** What pages and events have told of a state whose end has not come yet. */
class Unfinished {
  #changes: Change[] = [];
  #refused: NonNullable<Pulled["refused"]> = {};
  readonly fresh = new Set<string>();

  add({ changes, fresh = [], refused = {} }: Pick<Pulled, "changes" | "fresh" | "refused">): void {
    for (const change of changes) this.#changes.push(change);
    for (const name of fresh) this.fresh.add(name);
    this.#refused = refused;
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** Forgets what was told of members that are not among these. */
  keep(members: Members): void {
    if (this.#changes.some(({ table }) => !(table in members)))
      this.#changes = this.#changes.filter(({ table }) => table in members);
    for (const name of this.fresh) if (!(name in members)) this.fresh.delete(name);
  }

  /** Null where nothing was told. */
  step(clients: Clients | undefined): StreamStep | null {
    const refused = Object.fromEntries(
      Object.entries(this.#refused).map(([name, { code, message }]) => [
        name,
        new SvcError(statuses[code] ?? 400, code, message),
      ]),
    );
    const isEmpty = this.#changes.length + this.fresh.size + Object.keys(refused).length === 0;
    if (isEmpty && clients === undefined) return null;
    return { changes: this.#changes, fresh: [...this.fresh], refused, ...(clients && { clients }) };
  }
}

/**
 * Follows members from a checkpoint, or from null, which asks for all rows, until the signal is aborted. When the
 * connection ends, it makes a new one after a pause that grows with each failure. If the members change, it makes a new
 * one at once: members whose rows are held go on, and the others begin.
 */
export function follow(
  line: Line,
  followed: Followed,
  from: string | null,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<void> {
  return new Following(line, followed, from, listener, signal).run();
}

class Following {
  /** Of the last whole state. */
  #checkpoint: string | null;
  /** Of the last page, where others of the same round follow. After a cut connection the next page is asked for. */
  #page: string | null = null;
  /** The members that the checkpoint has with which the next request goes on; null where that is not known. */
  #covered: ReadonlySet<string> | null = null;
  #unfinished = new Unfinished();
  /** What was asked for last. */
  #asked: Members = {};
  #failures = 0;
  /** Whether all members begin anew because the server refused them together, and it has told nothing since. */
  #isRetrying = false;

  constructor(
    private readonly line: Line,
    private readonly followed: Followed,
    from: string | null,
    private readonly listener: StreamListener,
    private readonly signal: AbortSignal,
  ) {
    this.#checkpoint = from;
  }

  async run(): Promise<void> {
    const { followed, signal, listener } = this;
    for (; !signal.aborted; this.#failures++) {
      const changed = new AbortController();
      const forget = followed.listen(() => changed.abort());
      let isBye = false;
      let error: SvcError | null = null;
      try {
        await this.#begin();
        if (!changed.signal.aborted) isBye = await this.#stream(AbortSignal.any([signal, changed.signal]));
      } catch (failure) {
        error = failure as SvcError;
      }
      forget();
      try {
        if (error !== null && isFinal(error) && !signal.aborted && !changed.signal.aborted) {
          await this.#refuse(error);
          changed.abort();
        }
      } catch (failure) {
        error = failure as SvcError;
      }
      if (signal.aborted) return;
      if (changed.signal.aborted) this.#failures = -1;
      if (changed.signal.aborted || (isBye && this.#failures === 0)) continue;
      listener.told({ status: "reconnecting", error }, null, this.#checkpoint);
      await untilRetry(this.#failures, error, signal, this.line.surroundings);
    }
  }

  /** Pulls pages until the rows of all members are held. */
  async #begin(): Promise<void> {
    for (;;) {
      const members = this.followed.members();
      const names = Object.keys(members);
      const isHeld = (name: string) => this.followed.holds(name) && this.#covered?.has(name) !== false;
      this.#asked = members;
      if (names.length === 0 || (this.#page === null && this.#checkpoint !== null && names.every(isHeld))) return;
      await this.#pull(members, names);
    }
  }

  async #pull(members: Members, names: readonly string[]): Promise<void> {
    // The server would go on with members that the checkpoint has, although their rows are not held any more. So they are
    // left out of one request, after which they begin.
    const isCovered = (name: string) => this.#covered?.has(name) !== false;
    const isLost = (name: string) => isCovered(name) && !this.followed.holds(name) && !this.#unfinished.fresh.has(name);
    const hasCheckpoint = (this.#page ?? this.#checkpoint) !== null;
    const kept = hasCheckpoint ? names.filter((name) => !isLost(name)) : names;
    if (kept.length === 0) this.#startAnew();
    this.#asked = kept.length === 0 ? members : Object.fromEntries(kept.map((name) => [name, members[name]!]));
    if (this.#page === null) this.#unfinished = new Unfinished();
    else this.#unfinished.keep(this.#asked);
    const body = { tables: this.#asked, checkpoint: this.#page ?? this.#checkpoint, limit: pageSize };
    const { signal } = this;
    const found = (await this.line.read({ method: "POST", path: "/api/_svc/pull", body, signal })).data as Pulled;
    if (found.reset !== null) this.#unfinished = new Unfinished();
    this.#unfinished.add(found);
    this.#covered = new Set(Object.keys(this.#asked).filter((name) => !(name in (found.refused ?? {}))));
    this.#page = found.more ? found.checkpoint : null;
    if (found.more) this.listener.told(live, null, this.#checkpoint);
    else this.#whole(found.checkpoint, found.clients);
  }

  /** Takes the events of a stream. Resolves at its end, to whether the server asks for a new one. */
  async #stream(signal: AbortSignal): Promise<boolean> {
    if (Object.keys(this.#asked).length === 0) {
      await aborted(signal);
      return false;
    }
    let isBye = false;
    this.#unfinished = new Unfinished();
    const onText = eventReader(({ event, data, id }) => {
      if (signal.aborted) return;
      this.#failures = 0;
      this.#isRetrying = false;
      if (event === null && this.#unfinished.isEmpty) {
        this.#checkpoint = id ?? this.#checkpoint;
        this.listener.told(live, null, this.#checkpoint);
      }
      isBye = event === "bye" && (data as { readonly reason: string }).reason !== "shutdown";
      if (event === "reset") {
        // The server now tells all rows anew. If the connection is cut before the end, they are asked for again.
        this.#startAnew();
      }
      if (event !== "change") return;
      const { more, clients } = data as Pulled;
      this.#unfinished.add(data as Pulled);
      if (!more) this.#whole(id!, clients);
    });
    const body = { tables: this.#asked, checkpoint: this.#checkpoint };
    await this.line.send({ method: "POST", path: "/api/_svc/live", body, signal, onText });
    return isBye;
  }

  #startAnew(): void {
    this.#checkpoint = null;
    this.#page = null;
    this.#covered = new Set();
    this.#unfinished = new Unfinished();
  }

  #whole(checkpoint: string, clients: Clients | undefined): void {
    const step = this.#unfinished.step(clients);
    this.#unfinished = new Unfinished();
    this.#checkpoint = checkpoint;
    const refused = step?.refused ?? {};
    this.#covered = new Set(Object.keys(this.#asked).filter((name) => !(name in refused)));
    this.listener.told(live, step, checkpoint);
  }

  /**
   * Finds out which of the members that were asked for together the server refuses. If it refuses none of them by itself,
   * the checkpoint may be why: then all begin anew.
   */
  async #refuse(error: SvcError): Promise<void> {
    const names = Object.keys(this.#asked);
    const checkpoint = this.#page ?? this.#checkpoint;
    // The members are too long together.
    if (error.status === 413) return this.listener.refused(names.slice(-1), error);
    // If all members are refused, the request is.
    if (Object.values(statuses).includes(error.status) || (names.length === 1 && checkpoint === null))
      return this.listener.refused(names, error);
    let count = 0;
    for (const name of names) {
      const body = { tables: { [name]: this.#asked[name]! }, checkpoint: null, limit: 1 };
      try {
        await this.line.read({ method: "POST", path: "/api/_svc/pull", body, signal: this.signal });
      } catch (failure) {
        if (!isFinal(failure as SvcError)) throw failure;
        this.listener.refused([name], failure as SvcError);
        count++;
      }
    }
    if (count > 0) return;
    if (checkpoint === null || this.#isRetrying) return this.listener.refused(names, error);
    this.#isRetrying = true;
    this.#startAnew();
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
