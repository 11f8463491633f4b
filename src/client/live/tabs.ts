import type { SvcError } from "../error.js";
import type { Channel, Surroundings } from "../surroundings.js";
import type { LiveState } from "./changes.js";
import type { StreamStep } from "./follow.js";
import type { Members } from "./members.js";

/** A step as tabs tell it to each other: errors lose their class on the way. */
export interface TabStep extends Omit<StreamStep, "checkpoint" | "refused"> {
  readonly checkpoint: string | null;
  readonly refused: Readonly<Record<string, Pick<SvcError, "status" | "code" | "message">>>;
}

/** What a tab does with what others say. */
export interface TabParts {
  /** The state of this tab. */
  state(): LiveState;
  /** In a tab that does not lead: the leader tells a step or its state. */
  told(state: LiveState, step: TabStep | null): void;
  /** In the leader: all rows of those of these members that it has. */
  held(names: readonly string[]): TabStep;
  /** In the leader: other tabs follow other members than before. */
  wantsChanged(): void;
}

/** What another tab than the leader says: what it follows, and of which members it lacks the rows. */
interface Wish {
  readonly tab: number;
  readonly wants: Members;
  readonly asks: readonly string[];
}

/** What the leader says, to one tab or to all. */
interface Word {
  readonly leader: number;
  /** The number of the last step that this leader has told to all. */
  readonly count: number;
  readonly state: LiveState;
  readonly step: TabStep | null;
  readonly to: number | null;
}

/** After so many milliseconds without a message from the leader a tab follows the server itself. */
const silenceMs = 90_000;
/** After so many milliseconds without a message from a tab the leader follows nothing for it any more. */
const goneMs = 60_000;

/**
 * The tabs of an origin that share one stream. The one that holds a Web Lock, the leader, follows the server for all: the
 * others say what they follow, and the leader tells them by a BroadcastChannel what the server tells.
 */
export class Tabs {
  readonly #id: number;
  readonly #others = new Map<number, { readonly wants: Members; readonly atMs: number }>();
  #own: Members = {};
  #leader: number | null = null;
  #isLeading = false;
  #count = 0;
  #cancel = () => {};
  #onSilence = () => {};

  constructor(
    private readonly channel: Channel,
    private readonly surroundings: Surroundings,
    private readonly parts: TabParts,
  ) {
    this.#id = surroundings.random();
    channel.onMessage((message) => {
      if ("tab" in (message as Wish | Word)) this.#wished(message as Wish);
      else this.#said(message as Word);
    });
  }

  /** What the other tabs follow. */
  get wanted(): Members {
    return Object.assign({}, ...[...this.#others.values()].map(({ wants }) => wants));
  }

  /** Says what this tab follows. It lacks the rows of members that it has not followed before. */
  want(members: Members): void {
    const added = Object.keys(members).filter((name) => this.#own[name] === undefined);
    this.#own = members;
    this.#say(added);
  }

  /** Listens to the leader. `onSilence` is called if it says nothing for too long. */
  listen(onSilence: () => void): void {
    this.#onSilence = onSilence;
    this.#cancel = this.surroundings.after(silenceMs, onSilence);
  }

  /** From now on this tab is the leader. The others answer with what they follow. */
  lead(state: LiveState): void {
    this.#cancel();
    this.#isLeading = true;
    this.#count = 0;
    this.tell(state, null);
  }

  /** Tells the other tabs, as their leader. */
  tell({ status }: LiveState, step: TabStep | null): void {
    if (step !== null) this.#count++;
    this.#forgetGone();
    this.#send({ status, error: null }, step, null);
  }

  close(): void {
    this.#cancel();
    this.want({});
    this.channel.close();
  }

  #send(state: LiveState, step: TabStep | null, to: number | null): void {
    this.channel.postMessage({ leader: this.#id, count: this.#count, state, step, to } satisfies Word);
  }

  #say(asks: readonly string[]): void {
    if (!this.#isLeading) this.channel.postMessage({ tab: this.#id, wants: this.#own, asks } satisfies Wish);
  }

  #wished({ tab, wants, asks }: Wish): void {
    if (!this.#isLeading) return;
    const before = Object.keys(this.wanted).sort().join();
    if (Object.keys(wants).length === 0) this.#others.delete(tab);
    else this.#others.set(tab, { wants, atMs: this.surroundings.now() });
    if (asks.length > 0) this.#send({ status: this.parts.state().status, error: null }, this.parts.held(asks), tab);
    if (Object.keys(this.wanted).sort().join() !== before) this.parts.wantsChanged();
  }

  #said({ leader, count, state, step, to }: Word): void {
    if (this.#isLeading || (to !== null && to !== this.#id)) return;
    this.#cancel();
    this.#cancel = this.surroundings.after(silenceMs, this.#onSilence);
    const isKnown = leader === this.#leader;
    if (to === null && !(isKnown && count === (step === null ? this.#count : this.#count + 1))) {
      this.#say(Object.keys(this.#own));
      return;
    }
    this.#leader = leader;
    this.#count = count;
    // The leader hears that this tab is still there.
    if (step === null) this.#say([]);
    this.parts.told(state, step);
  }

  /** Tabs that were closed say nothing any more. */
  #forgetGone(): void {
    const before = this.#others.size;
    const sinceMs = this.surroundings.now() - goneMs;
    for (const [tab, { atMs }] of this.#others) if (atMs < sinceMs) this.#others.delete(tab);
    if (this.#others.size < before) this.parts.wantsChanged();
  }
}
