import type { Change, Clients, FollowedTables, Follower, LiveState, Step } from "./changes.js";
import type { HeldList } from "./held-list.js";
import type { Hub } from "./hub.js";
import { memberName } from "./members.js";

const nothing: Step = { changes: [], isReset: true, checkpoint: null };

/** The rows that the signed-in user sees of some tables, kept up to date by the hub. All who follow the same share one feed. */
export class Feed {
  readonly #hub: Hub;
  /** By the name of each member: the name under which followers know it. */
  readonly #names: ReadonlyMap<string, string>;
  readonly #tables: FollowedTables;
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
    private readonly ended: () => void,
  ) {
    this.#hub = hub;
    this.#tables = tables;
    this.#names = new Map(Object.entries(tables).map(([name, terms]) => [memberName(name, terms), name]));
  }

  /** Each row as the change that has brought it last. */
  get rows(): Iterable<Change> {
    return this.#lists.flatMap(([name, list]) => [...list.rows].map((change) => ({ ...change, table: name })));
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
    const members = [...this.#names].map(([member, name]) => [member, { table: name, ...this.#tables[name] }] as const);
    const release = this.#hub.use(Object.fromEntries(members));
    const forget = this.#hub.listen({
      stepped: (anew, changes, clients) => {
        if ([...this.#names.keys()].some((member) => anew.has(member))) return this.#toldAnew();
        if (!this.#isTold) return;
        const own = changes.flatMap((change) => this.#named(change));
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

  get #lists(): readonly (readonly [string, HeldList])[] {
    return [...this.#names].map(([member, name]) => [name, this.#hub.list(member)] as const);
  }

  /** Tells all rows, where they are known, or that the server tells none. */
  #toldAnew(): void {
    const lists = this.#lists.map(([, list]) => list);
    this.#isTold = lists.every(({ isWhole }) => isWhole);
    if (this.#isTold) this.#notify(this.#whole());
    else if (lists.some(({ error }) => error !== null)) this.#notify(nothing);
  }

  #named(change: Change): readonly Change[] {
    const name = this.#names.get(change.table);
    return name === undefined ? [] : [{ ...change, table: name }];
  }

  #whole(): Step {
    const { checkpoint, clients } = this.#hub;
    return { changes: [...this.rows], isReset: true, checkpoint, clients };
  }

  #notify(step: Step | null): void {
    const error = this.#lists.find(([, list]) => list.error !== null)?.[1].error;
    const state: LiveState = error == null ? this.#hub.state : { status: "refused", error };
    if (step === null && state.status === this.#state?.status) return;
    this.#state = state;
    for (const entry of this.#followers) entry(state, step);
  }
}
