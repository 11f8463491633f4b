import type { Sessions } from "../session.js";
import type { Channel } from "../surroundings.js";
import type { Change, Clients, FollowedTables, Follower, LiveState, Step } from "./changes.js";
import { follow, type Line } from "./follow.js";

/** What a `Feed` needs to work. */
export interface FeedOptions extends Line {
  readonly sessions: Sessions;
  /** The beginning of the names of shared locks and channels; null if the tabs do not share the session. */
  readonly sharedName: string | null;
}

/** A message between tabs: the leader tells the others what it learns, and another tab asks it for all rows. */
type Message =
  | { readonly asks: true }
  | {
      readonly leader: number;
      /** The number of the last step that this leader has told. */
      readonly count: number;
      readonly state: LiveState;
      readonly step: Step | null;
    };

/** After so many milliseconds without a message from the leader a tab follows the server itself. */
const silenceMs = 90_000;
const beginning: LiveState = { status: "reconnecting", error: null };
const nothing: Step = { changes: [], isReset: true, checkpoint: null };

/**
 * A copy of the rows that the signed-in user sees of some tables, which is kept up to date. All who follow the same
 * tables in this page share one feed, and the tabs that share the session share one stream of the server for it. The
 * tab that holds a Web Lock, the leader, follows the server and tells the other tabs by a BroadcastChannel. When it is
 * closed, the next tab gets the lock and goes on from the same checkpoint.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #tables: FollowedTables;
  readonly #followers = new Set<Follower>();
  /** By table and key: the change that has brought each row last. */
  readonly #rows = new Map<string, Change>();
  #checkpoint: string | null = null;
  #clients: Clients = {};
  #state = beginning;
  #end = () => {};

  /** `ended` is called when the feed has lost its last follower. */
  constructor(
    options: FeedOptions,
    tables: FollowedTables,
    private readonly ended: () => void,
  ) {
    this.#options = options;
    this.#tables = tables;
  }

  /** Each row as the change that has brought it last. */
  get rows(): Iterable<Change> {
    return this.#rows.values();
  }

  /** By the name of each client of the user: its last mutation that is part of the feed's rows. */
  get clients(): Clients {
    return this.#clients;
  }

  /** Calls the follower with all rows once they are known, then with each change. Returns a function that ends this. */
  subscribe(follower: Follower): () => void {
    // A function of its own, because the same follower may subscribe twice.
    const entry: Follower = (state, step) => queueMicrotask(() => this.#followers.has(entry) && follower(state, step));
    this.#followers.add(entry);
    if (this.#followers.size === 1) this.#end = eachSession(this.#options.sessions, (...run) => this.#run(...run));
    else if (this.#state !== beginning) entry(this.#state, this.#whole());
    return () => {
      if (!this.#followers.delete(entry) || this.#followers.size > 0) return;
      this.#end();
      this.ended();
    };
  }

  #whole(): Step {
    return {
      changes: [...this.#rows.values()],
      isReset: true,
      checkpoint: this.#checkpoint,
      clients: this.#clients,
    };
  }

  #notify(state: LiveState, step: Step | null): void {
    const isNews = step !== null || state.status !== this.#state.status;
    this.#state = state;
    if (step !== null) {
      this.#checkpoint = step.checkpoint;
      if (step.isReset) this.#rows.clear();
      this.#clients = { ...(!step.isReset && this.#clients), ...step.clients };
      for (const change of step.changes) {
        const name = JSON.stringify([change.table, change.key]);
        if (change.op === "remove") this.#rows.delete(name);
        else this.#rows.set(name, change);
      }
    }
    if (isNews) for (const entry of this.#followers) entry(state, step);
  }

  async #run(user: string | null, signal: AbortSignal): Promise<void> {
    // Rows that were told for another user are not shown any more.
    if (this.#checkpoint !== null) this.#notify(beginning, nothing);
    const { sharedName, surroundings } = this.#options;
    const { locks } = surroundings;
    const name = JSON.stringify([sharedName, user, this.#tables]);
    const channel = sharedName === null || locks === null ? null : surroundings.channel(name);
    if (channel === null) return this.#lead(null, signal);
    const waiting = new AbortController();
    const stopListening = this.#listen(channel, () => {
      // The leader has been silent for too long: the browser may have suspended it, and it keeps the lock.
      waiting.abort();
      channel.close();
      void this.#lead(null, signal);
    });
    signal.addEventListener("abort", () => {
      stopListening();
      waiting.abort();
      channel.close();
    });
    const lead = () => {
      stopListening();
      return this.#lead(channel, signal);
    };
    try {
      await locks!.request(name, { signal: waiting.signal }, lead);
    } catch {
      if (waiting.signal.aborted) return;
      // This page may not use Web Locks.
      stopListening();
      await this.#lead(null, signal);
    }
  }

  async #lead(channel: Channel | null, signal: AbortSignal): Promise<void> {
    const leader = this.#options.surroundings.random();
    let count = 0;
    const say = (state: LiveState, step: Step | null) => {
      // States such as `signed_out` are not told: other tabs find out by themselves that their session is over.
      const { status } = state;
      if (status === "live" || status === "reconnecting")
        channel?.postMessage({ leader, count, state: { status, error: null }, step } satisfies Message);
    };
    channel?.onMessage((message) => {
      if ("asks" in (message as Message) && this.#checkpoint !== null) say(this.#state, this.#whole());
    });
    const notifyFollowers: Follower = (state, step) => {
      if (signal.aborted) return;
      const isOver = state.status === "signed_out" || state.status === "refused";
      this.#notify(state, isOver ? nothing : step);
      if (step !== null) count++;
      say(state, step);
    };
    await follow(this.#options, this.#tables, this.#checkpoint, notifyFollowers, signal);
  }

  /** Takes the leader's messages until the returned function is called. `onSilence`: none has come for too long. */
  #listen(channel: Channel, onSilence: () => void): () => void {
    const { after } = this.#options.surroundings;
    let leader: number | undefined;
    let count = 0;
    const ask = () => channel.postMessage({ asks: true } satisfies Message);
    let cancel = after(silenceMs, onSilence);
    channel.onMessage((message) => {
      const said = message as Message;
      if ("asks" in said) return;
      cancel();
      cancel = after(silenceMs, onSilence);
      const isKnown = said.leader === leader && said.count === count;
      const isNext = said.leader === leader && said.count === count + 1;
      // This tab knows the step. The leader has told it again because another tab has asked for all rows.
      if (isKnown && said.step !== null) return;
      if (!(said.step === null ? isKnown : isNext || said.step.isReset)) return ask();
      ({ leader, count } = said);
      this.#notify(said.state, said.step);
    });
    ask();
    return () => cancel();
  }
}

/**
 * Calls `run` with the id of the signed-in user, or null. Whenever somebody signs in or out, it aborts the signal of
 * the last call and calls `run` anew. Returns a function that ends this.
 */
export function eachSession(
  sessions: Sessions,
  run: (user: string | null, signal: AbortSignal) => Promise<void>,
): () => void {
  let current = new AbortController();
  const begin = async () => {
    current.abort();
    current = new AbortController();
    const { signal } = current;
    const session = await sessions.load();
    if (!signal.aborted) await run(session?.user.id ?? null, signal);
  };
  const forget = sessions.listen(() => void begin());
  void begin();
  return () => {
    forget();
    current.abort();
  };
}
