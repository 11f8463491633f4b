import { badCall, SvcError } from "../error.js";
import type { Sessions } from "../session.js";
import type { Change, Clients, LiveState } from "./changes.js";
import { eachSession } from "./each-session.js";
import { type Followed, follow, type Line } from "./follow.js";
import { HeldList } from "./held-list.js";
import { type Members, membersMax } from "./members.js";
import { Saving } from "./saving.js";
import type { RowStore } from "./store.js";
import { plainError, type TabStep, Tabs, type Told } from "./tabs.js";

/** What a `Hub` needs to work. */
export interface HubOptions extends Line {
  readonly sessions: Sessions;
  /** The beginning of the names of shared locks and channels; null if the tabs do not share the session. */
  readonly sharedName: string | null;
  readonly store: RowStore;
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
/** The most bytes of JSON of all members: the server takes requests of 64 KiB, with the checkpoint. */
const bytesMax = 48_000;
const beginning: LiveState = { status: "reconnecting", error: null };
const tooMany = badCall(`live: the ${membersMax} lists and ${bytesMax} bytes of a stream are taken`);

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
  /** Whether this tab follows the server. */
  #leads = false;
  #isCollecting = false;
  #end: (() => void) | null = null;
  /** Whether it is known for whom the lists are. */
  #hasBegun = false;
  #tabs: Tabs | null = null;
  readonly #saving: Saving;
  /** Of the last whole state; null before the first. */
  checkpoint: string | null = null;
  state = beginning;
  /** By the name of each client of the user: its last mutation that is part of the rows. */
  clients: Clients = {};

  constructor(options: HubOptions) {
    this.#options = options;
    this.#saving = new Saving(options.store);
    // Where lists are followed, `#run` is called.
    options.sessions.listen((user) => {
      if (this.#end === null) void this.#saving.open(user?.id ?? null);
    });
  }

  list(name: string): HeldList {
    return this.#lists.get(name)!;
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows members until the returned function is called. `isKept`: their rows are kept on the device. */
  use(members: Members, isKept: boolean): () => void {
    const own = Object.entries(members).map(([name, terms]) => this.#listOf(name, terms));
    for (const list of own) {
      list.followers++;
      list.keepers += Number(isKept);
    }
    if (this.#hasBegun && isKept) void this.#showStored(Object.keys(members));
    this.#end ??= eachSession(this.#options.sessions, (user, signal) => this.#run(user, signal));
    this.#membersChanged();
    return () => {
      for (const list of own) {
        list.followers--;
        list.keepers -= Number(isKept);
      }
      this.#membersChanged();
    };
  }

  #listOf(name: string, terms: object): HeldList {
    const list = this.#lists.get(name) ?? new HeldList(terms);
    if (JSON.stringify(list.terms) !== JSON.stringify(terms)) throw badCall("live: two lists have the same hash");
    this.#lists.set(name, list);
    return list;
  }

  /** What this page follows. */
  get #own(): Members {
    const followed = [...this.#lists].filter(([, { followers }]) => followers > 0);
    return Object.fromEntries(followed.map(([name, { terms }]) => [name, terms]));
  }

  #membersChanged(): void {
    this.#want();
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    this.#options.surroundings.after(collectMs, () => {
      this.#isCollecting = false;
      // A tab that follows the server drops lists with its next request.
      if (!this.#leads) for (const [name, { followers }] of this.#lists) if (followers === 0) this.#lists.delete(name);
      if (Object.keys(this.#own).length > 0) return this.#reopen?.();
      this.#end?.();
      this.#end = null;
      this.#hasBegun = false;
      this.#lists.clear();
      this.#beginAnew();
    });
  }

  #want(): void {
    const kept = Object.keys(this.#own).filter((name) => this.list(name).isKept);
    this.#tabs?.want(this.#own, kept);
  }

  /** Shows the rows that the device has of lists which the server has told nothing of yet. Resolves to these lists. */
  async #showStored(names: readonly string[]): Promise<readonly string[]> {
    const isWanted = (name: string) => {
      const list = this.#lists.get(name);
      return list?.isKept === true && !list.isWhole && list.error === null;
    };
    const shown: string[] = [];
    const { isOf, rows } = this.#saving.reader();
    for (const name of names.filter(isWanted)) {
      const found = await rows(name);
      if (found === null || !isOf() || !isWanted(name)) continue;
      const list = this.list(name);
      list.begin();
      list.isStale = true;
      for (const change of found) list.apply(change);
      shown.push(name);
    }
    if (shown.length > 0 && isOf())
      for (const listener of this.#listeners) listener.stepped(new Set(shown), [], undefined);
    return shown;
  }

  /** Takes over what the device has for a user, to go on from there. */
  async #takeStored(user: string | null, signal: AbortSignal): Promise<void> {
    const stored = await this.#saving.open(user);
    if (signal.aborted || stored.checkpoint === null) return;
    this.state = { status: "stored", error: null };
    const shown = await this.#showStored(Object.keys(this.#own));
    if (signal.aborted) return;
    const current = shown.filter((name) => stored.current.includes(name));
    for (const name of current) this.list(name).isStale = false;
    if (current.length > 0) ({ checkpoint: this.checkpoint, clients: this.clients } = stored);
    if (shown.length === 0) this.state = beginning;
  }

  #beginAnew(): void {
    this.checkpoint = null;
    this.clients = {};
    this.state = beginning;
  }

  async #run(user: string | null, signal: AbortSignal): Promise<void> {
    // What was told to another user is not shown any more.
    const isUsed = ({ isWhole, error }: HeldList) => isWhole || error !== null;
    if (this.checkpoint !== null || [...this.#lists.values()].some(isUsed)) this.#forget();
    this.#hasBegun = false;
    await this.#takeStored(user, signal);
    if (signal.aborted) return;
    this.#hasBegun = true;
    const { sharedName, surroundings } = this.#options;
    const { locks } = surroundings;
    const name = JSON.stringify([sharedName, user]);
    const channel = sharedName === null || locks === null ? null : surroundings.channel(name);
    if (channel === null) return this.#lead(null, signal);
    const tabs = new Tabs(channel, surroundings, {
      told: (told, isAll) => {
        // The leader has other rows of it than this tab, or none yet.
        if (isAll)
          for (const [name, list] of this.#lists)
            if (list.isWhole && told.step?.fresh.includes(name) !== true) list.isStale = true;
        this.#told(told);
      },
      held: (names) => this.#held(names),
      wantsChanged: () => this.#membersChanged(),
    });
    this.#tabs = tabs;
    const waiting = new AbortController();
    const leave = () => {
      signal.removeEventListener("abort", leave);
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
    this.#want();
    try {
      await locks!.request(name, { signal: waiting.signal }, () => this.#lead(tabs, signal));
    } catch {
      if (waiting.signal.aborted) return;
      // This page may not use Web Locks.
      leave();
      await this.#lead(null, signal);
    }
  }

  /** Follows the server, for this tab and for the others. */
  async #lead(tabs: Tabs | null, signal: AbortSignal): Promise<void> {
    let asked = "";
    const save = this.#saving.begin(this.#lists, () => this.clients);
    const tell = (told: Told) => {
      if (signal.aborted) return;
      tabs?.tell(told);
      this.#told(told);
      save(told);
    };
    const refuse = (names: readonly string[], error: SvcError) => {
      const refused = Object.fromEntries(names.map((name) => [name, plainError(error)]));
      tell({ state: this.state, step: { changes: [], fresh: [], refused }, checkpoint: this.checkpoint });
    };
    const followed: Followed = {
      members: () => {
        const others = tabs?.wanted ?? {};
        for (const [name, terms] of Object.entries(others)) this.#listOf(name, terms);
        const kept = tabs?.kept ?? [];
        for (const [name, list] of this.#lists) list.isKeptElsewhere = kept.includes(name);
        for (const [name, { followers }] of this.#lists)
          if (followers === 0 && !(name in others)) this.#lists.delete(name);
        const { admitted, left } = this.#admitted(others);
        asked = JSON.stringify(admitted);
        if (left.length > 0) queueMicrotask(() => refuse(left, tooMany));
        return admitted;
      },
      holds: (name) => this.#lists.get(name)?.isCurrent === true,
      listen: (changed) => {
        this.#reopen = () => {
          if (JSON.stringify(this.#admitted(tabs?.wanted ?? {}).admitted) !== asked) changed();
        };
        return () => {
          this.#reopen = null;
        };
      },
    };
    this.#leads = true;
    signal.addEventListener("abort", () => {
      this.#leads = false;
    });
    tabs?.lead();
    const told = (state: LiveState, step: TabStep | null, checkpoint: string | null) =>
      tell({ state, step, checkpoint });
    await follow(this.#options, followed, this.checkpoint, { told, refused: refuse }, signal);
  }

  /** What the server is asked for: what this page and others follow, as far as it was not refused and there is room. */
  #admitted(others: Members): { readonly admitted: Members; readonly left: readonly string[] } {
    const wanted = Object.entries({ ...this.#own, ...others }).filter(
      ([name]) => (this.#lists.get(name)?.error ?? null) === null,
    );
    let bytes = 0;
    const admitted = wanted.filter(([name, terms], i) => {
      bytes += name.length + new TextEncoder().encode(JSON.stringify(terms)).length;
      return i < membersMax && bytes <= bytesMax;
    });
    return {
      admitted: Object.fromEntries(admitted),
      left: wanted.filter((each) => !admitted.includes(each)).map(([name]) => name),
    };
  }

  /** What this tab knows of these members. */
  #held(names: readonly string[]): Told {
    const lists = names.flatMap((name) => (this.#lists.has(name) ? [[name, this.list(name)] as const] : []));
    const whole = lists.filter(([, { isCurrent }]) => isCurrent);
    const refused = lists.flatMap(([name, { error }]) => (error === null ? [] : [[name, plainError(error)] as const]));
    const step = {
      changes: whole.flatMap(([, { rows }]) => [...rows]),
      fresh: whole.map(([name]) => name),
      refused: Object.fromEntries(refused),
      clients: this.clients,
    };
    return { state: this.state, step: names.length === 0 ? null : step, checkpoint: this.checkpoint };
  }

  #told({ state, step, checkpoint }: Told): void {
    const isOther = state.status !== this.state.status;
    this.state = state;
    this.checkpoint = checkpoint;
    if (step !== null) this.#apply(step);
    if (isOther) for (const listener of this.#listeners) listener.stateChanged();
  }

  #apply({ changes, fresh, refused, clients }: TabStep): void {
    this.clients = { ...this.clients, ...clients };
    const anew = new Set<string>();
    for (const name of fresh) {
      this.#lists.get(name)?.begin();
      anew.add(name);
    }
    for (const [name, { status, code, message }] of Object.entries(refused)) {
      const list = this.#lists.get(name);
      // The server repeats why it does not tell of a member.
      if (list === undefined || list.error !== null) continue;
      list.refuse(new SvcError(status, code, message));
      anew.add(name);
    }
    for (const change of changes) this.#lists.get(change.table)?.apply(change);
    const others = changes.filter(({ table }) => !anew.has(table));
    for (const listener of this.#listeners) listener.stepped(anew, others, clients);
  }

  #forget(): void {
    for (const list of this.#lists.values()) list.forget();
    this.#beginAnew();
    for (const listener of this.#listeners) listener.forgotten();
  }
}
