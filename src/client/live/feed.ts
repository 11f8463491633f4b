import type { Change, Clients, FollowedTables, Follower, LiveState, Step } from "./changes.js";
import type { HeldList } from "./held-list.js";
import type { Hub } from "./hub.js";
import { MemberNames } from "./members.js";

const nothing: Step = { changes: [], isReset: true, checkpoint: null };

/** The rows that the signed-in user sees of some tables, kept up to date by the hub. All who follow the same share one feed. */
export class Feed {
  readonly #hub: Hub;
  readonly #names: MemberNames;
  readonly #followers = new Set<Follower>();
  /** Whether followers were told all rows. */
  #isTold = false;
  /** The state that followers were told last. */
  #state: LiveState | null = null;
  #end = () => {};

  /** `ended` is called when the feed has lost its last follower. */
  constructor(
    hub: Hub,
    tables: FollowedTables,
    private readonly isKept: boolean,
    private readonly ended: () => void,
  ) {
    this.#hub = hub;
    this.#names = new MemberNames(tables);
  }

  /** Each row as the change that has brought it last. */
  get rows(): Iterable<Change> {
    return this.#lists.flatMap(({ rows }) => [...rows].flatMap((change) => this.#names.named(change)));
  }

  /** By the name of each client of the user: its last mutation that is part of the feed's rows. */
  get clients(): Clients {
    return this.#hub.clients;
  }

  /** Calls the follower with all rows once they are known, then with each change. Returns a function that ends this. */
  subscribe(follower: Follower): () => void {
    // A function of its own, because the same follower may subscribe twice.
    const entry: Follower = (state, step) => queueMicrotask(() => this.#followers.has(entry) && follower(state, step));
    this.#followers.add(entry);
    if (this.#followers.size === 1) this.#begin();
    else if (this.#state !== null) entry(this.#state, this.#isTold ? this.#whole() : nothing);
    return () => {
      if (!this.#followers.delete(entry) || this.#followers.size > 0) return;
      this.#end();
      this.ended();
    };
  }

  #begin(): void {
    const release = this.#hub.use(this.#names.members, this.isKept);
    const forget = this.#hub.listen({
      stepped: (anew, changes, clients) => {
        if (this.#names.all.some((name) => anew.has(name))) return this.#toldAnew();
        if (!this.#isTold) return;
        const own = changes.flatMap((change) => this.#names.named(change));
        const { checkpoint } = this.#hub;
        if (own.length > 0 || clients !== undefined)
          this.#notify({ changes: own, isReset: false, checkpoint, ...(clients && { clients }) });
      },
      stateChanged: () => this.#notify(null),
      forgotten: () => {
        this.#isTold = false;
        this.#notify(nothing);
      },
    });
    this.#end = () => {
      forget();
      release();
    };
    this.#toldAnew();
  }

  get #lists(): readonly HeldList[] {
    return this.#names.all.map((name) => this.#hub.list(name));
  }

  /** Tells all rows, where they are known, or that the server tells none. */
  #toldAnew(): void {
    this.#isTold = this.#lists.every(({ isWhole }) => isWhole);
    if (this.#isTold) this.#notify(this.#whole());
    else if (this.#lists.some(({ error }) => error !== null)) this.#notify(nothing);
  }

  #whole(): Step {
    const { checkpoint, clients } = this.#hub;
    return { changes: [...this.rows], isReset: true, checkpoint, clients };
  }

  #notify(step: Step | null): void {
    const state = this.#stateOf(this.#lists);
    if (step === null && state.status === this.#state?.status) return;
    this.#state = state;
    for (const entry of this.#followers) entry(state, step);
  }

  #stateOf(lists: readonly HeldList[]): LiveState {
    const { state } = this.#hub;
    const error = lists.find((list) => list.error !== null)?.error ?? null;
    if (error !== null) return { status: error.status === 401 ? "signed_out" : "refused", error };
    return state.status === "live" && lists.some(({ isStale }) => isStale) ? { status: "stored", error: null } : state;
  }
}
