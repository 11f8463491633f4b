import { badCall, SvcError } from "../error.js";
import type { Sessions } from "../session.js";
import type { Change, Clients, LiveState } from "./changes.js";
import { eachSession } from "./each-session.js";
import { follow, type Line } from "./follow.js";
import { HeldList } from "./held-list.js";
import { type Members, membersMax } from "./members.js";
import { type TabStep, Tabs } from "./tabs.js";

/** What a `Hub` needs to work. */
export interface HubOptions extends Line {
  readonly sessions: Sessions;
  /** The beginning of the names of shared locks and channels; null if the tabs do not share the session. */
  readonly sharedName: string | null;
}

/** Called when the rows of members, or the state, may be others. */
export interface HubListener {
  /** `anew` are members whose rows were told whole, or which were refused; `changes` are those of the others. */
  stepped(anew: ReadonlySet<string>, changes: readonly Change[], clients: Clients | undefined): void;
  stateChanged(): void;
  /** The rows of all members are forgotten, because somebody has signed in or out. */
  forgotten(): void;
}

/** For how many milliseconds members that are added or dropped are collected before the stream is opened anew. */
const collectMs = 50;
const beginning: LiveState = { status: "reconnecting", error: null };
const tooMany = badCall(`live: more than ${membersMax} lists are followed already`);

/**
 * Keeps the rows of all members that are followed in this page. One stream of the server brings them, which the tabs of
 * an origin share. If members are added or dropped, the stream is opened anew, and the other members go on.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #lists = new Map<string, HeldList>();
  readonly #listeners = new Set<HubListener>();
  /** Opens the stream anew, where this tab has one. */
  #reopen: (() => void) | null = null;
  #cancel: (() => void) | null = null;
  #end: (() => void) | null = null;
  #tabs: Tabs | null = null;
  /** Of the last step; null before the first. */
  checkpoint: string | null = null;
  state = beginning;
  /** By the name of each client of the user: its last mutation that is part of the rows. */
  clients: Clients = {};

  constructor(options: HubOptions) {
    this.#options = options;
  }

  list(name: string): HeldList {
    return this.#lists.get(name)!;
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows members until the returned function is called. */
  use(members: Members): () => void {
    for (const [name, terms] of Object.entries(members)) {
      const list = this.#lists.get(name) ?? new HeldList(terms);
      list.followers++;
      this.#lists.set(name, list);
    }
    if (this.#end === null) this.#end = eachSession(this.#options.sessions, (user, signal) => this.#run(user, signal));
    else this.#membersChanged();
    return () => {
      for (const name of Object.keys(members)) this.list(name).followers--;
      if (Object.keys(this.#own).length > 0) return this.#membersChanged();
      this.#cancel?.();
      this.#cancel = null;
      this.#end!();
      this.#end = null;
      this.#lists.clear();
      this.checkpoint = null;
      this.state = beginning;
      this.clients = {};
    };
  }

  /** What this page follows. */
  get #own(): Members {
    const followed = [...this.#lists].filter(([, { followers }]) => followers > 0);
    return Object.fromEntries(followed.map(([name, { terms }]) => [name, terms]));
  }

  #membersChanged(): void {
    if (this.#reopen === null)
      for (const [name, { followers }] of this.#lists) if (followers === 0) this.#lists.delete(name);
    this.#tabs?.want(this.#own);
    this.#cancel ??= this.#options.surroundings.after(collectMs, () => {
      this.#cancel = null;
      this.#reopen?.();
    });
  }

  async #run(user: string | null, signal: AbortSignal): Promise<void> {
    // Rows that were told for another user are not shown any more.
    if (this.checkpoint !== null) this.#forget(beginning);
    const { sharedName, surroundings } = this.#options;
    const { locks } = surroundings;
    const name = JSON.stringify([sharedName, user]);
    const channel = sharedName === null || locks === null ? null : surroundings.channel(name);
    if (channel === null) return this.#lead(null, signal);
    const tabs = new Tabs(channel, surroundings, {
      state: () => this.state,
      told: (state, step) => this.#told(state, step),
      held: (names) => this.#held(names),
      wantsChanged: () => this.#membersChanged(),
    });
    this.#tabs = tabs;
    const waiting = new AbortController();
    const leave = () => {
      waiting.abort();
      tabs.close();
      if (this.#tabs === tabs) this.#tabs = null;
    };
    tabs.listen(() => {
      // The leader has been silent for too long: the browser may have suspended it, and it keeps the lock.
      leave();
      void this.#lead(null, signal);
    });
    signal.addEventListener("abort", leave);
    tabs.want(this.#own);
    try {
      await locks!.request(name, { signal: waiting.signal }, () => this.#lead(tabs, signal));
    } catch {
      if (waiting.signal.aborted) return;
      // This page may not use Web Locks.
      leave();
      await this.#lead(null, signal);
    }
  }

  /** Follows the server, for this tab and for the others, until the session is over. */
  async #lead(tabs: Tabs | null, signal: AbortSignal): Promise<void> {
    let asked: string | null = null;
    let last = beginning;
    const members = (): Members => {
      const all = Object.entries(this.#membersOf(tabs?.wanted ?? {}));
      const found = Object.fromEntries(all.slice(0, membersMax));
      asked = JSON.stringify(found);
      const others = all.slice(membersMax).map(([name]) => name);
      if (others.length > 0) queueMicrotask(() => this.#refuse(others, tooMany, tell));
      return found;
    };
    const listen = (changed: () => void) => {
      this.#reopen = () => {
        if (JSON.stringify(this.#membersOf(tabs?.wanted ?? {})) !== asked) changed();
      };
      return () => {};
    };
    const tell = (state: LiveState, step: TabStep | null) => {
      tabs?.tell(state, step);
      this.#told(state, step);
    };
    signal.addEventListener("abort", () => {
      this.#reopen = null;
    });
    tabs?.lead(this.state);
    while (!signal.aborted) {
      const known = [...this.#lists].filter(([, { isWhole }]) => isWhole).map(([name]) => name);
      const from = this.checkpoint === null ? null : { checkpoint: this.checkpoint, known };
      await follow(
        this.#options,
        { members, listen },
        from,
        (state, step) => {
          last = state;
          if (signal.aborted || state.status === "refused" || state.status === "signed_out") return;
          tell(state, step);
        },
        signal,
      );
      if (signal.aborted) return;
      // States such as `signed_out` are not told to other tabs, which find out by themselves that their session is over.
      if (last.status === "signed_out") return this.#forget(last);
      this.#refuse(Object.keys(members()), last.error!, tell);
    }
  }

  /** What is asked of the server: the members of this page and `others`, as far as they were not refused. */
  #membersOf(others: Members): Members {
    const own = this.#own;
    for (const [name, terms] of Object.entries(others))
      if (!this.#lists.has(name)) this.#lists.set(name, new HeldList(terms));
    for (const name of this.#lists.keys()) if (!(name in own) && !(name in others)) this.#lists.delete(name);
    const admitted = [...this.#lists].filter(([, { error }]) => error === null);
    return Object.fromEntries(admitted.map(([name, { terms }]) => [name, terms]));
  }

  /** All rows of those of these members that this tab has. */
  #held(names: readonly string[]): TabStep {
    const found = names.filter((name) => this.#lists.get(name)?.isWhole);
    return {
      changes: found.flatMap((name) => [...this.list(name).rows]),
      fresh: found,
      refused: {},
      checkpoint: this.checkpoint,
      clients: this.clients,
    };
  }

  #refuse(
    names: readonly string[],
    { status, code, message }: SvcError,
    tell: (state: LiveState, step: TabStep) => void,
  ) {
    const refused = Object.fromEntries(names.map((name) => [name, { status, code, message }]));
    tell(this.state, { changes: [], fresh: [], refused, checkpoint: this.checkpoint });
  }

  #told(state: LiveState, step: TabStep | null): void {
    const isOther = state.status !== this.state.status;
    this.state = state;
    if (step !== null) this.#apply(step);
    if (isOther) for (const listener of this.#listeners) listener.stateChanged();
  }

  #apply({ changes, fresh, refused, checkpoint, clients }: TabStep): void {
    this.checkpoint = checkpoint;
    this.clients = { ...this.clients, ...clients };
    const anew = new Set([...fresh, ...Object.keys(refused)].filter((name) => this.#lists.has(name)));
    for (const name of anew) {
      const list = this.list(name);
      const error = refused[name];
      if (error === undefined) list.begin();
      else list.refuse(new SvcError(error.status, error.code, error.message));
    }
    for (const change of changes) this.#lists.get(change.table)?.apply(change);
    const others = changes.filter(({ table }) => !anew.has(table));
    for (const listener of this.#listeners) listener.stepped(anew, others, clients);
  }

  #forget(state: LiveState): void {
    for (const list of this.#lists.values()) list.forget();
    this.checkpoint = null;
    this.clients = {};
    this.state = state;
    for (const listener of this.#listeners) listener.forgotten();
  }
}
