import type { SvcError } from "../error.js";
import type { Channel, Surroundings } from "../surroundings.js";
import type { LiveState } from "./changes.js";
import type { StreamStep } from "./follow.js";
import type { Members } from "./members.js";

/** A step as tabs tell it to each other: errors lose their class on the way. */
export interface TabStep extends Omit<StreamStep, "refused"> {
  readonly refused: Readonly<Record<string, ReturnType<typeof plainError>>>;
}

/** What tabs tell each other of an error. */
export function plainError({ status, code, message }: SvcError): Pick<SvcError, "status" | "code" | "message"> {
  return { status, code, message };
}

/** What the leader tells. */
export interface Told {
  readonly state: LiveState;
  readonly step: TabStep | null;
  readonly checkpoint: string | null;
}

/** What a tab does with what others say. */
export interface TabParts {
  /** In a tab that does not lead: the leader has told this. With `isAll`, it has told all that it has for this tab. */
  told(told: Told, isAll: boolean): void;
  /** In the leader: what it knows of these members. */
  held(names: readonly string[]): Told;
  /** In the leader: other tabs follow other members than before. */
  wantsChanged(): void;
}

/** What another tab than the leader says: what it follows, and of which members it lacks the rows. */
interface Wish {
  readonly tab: number;
  readonly wants: Members;
  /** Those of them whose rows are kept on the device. */
  readonly keeps: readonly string[];
  readonly asks: readonly string[];
  /** Whether it asks for all that it follows. */
  readonly isAll: boolean;
}

/** What the leader says, to one tab or to all (`to` is null). */
interface Word extends Told {
  readonly leader: number;
  /** The number of the last step that this leader has told to all. */
  readonly count: number;
  readonly to: number | null;
  /** Whether it answers a tab that asks for all that it follows. */
  readonly isAll: boolean;
}

/** What the leader knows of another tab. */
interface Other {
  readonly wants: Members;
  readonly keeps: readonly string[];
  heardAtMs: number;
  /** Since when the leader waits to hear of it; null where it does not wait. */
  waitsSinceMs: number | null;
}

/** After so many milliseconds without a word from the leader a tab follows the server itself. */
const silenceMs = 90_000;
/** How often a tab lets the leader know that it is still there, at a word of the leader. */
const reportMs = 15_000;
/** A tab that says nothing for twice as long, and does not answer within this time either, is gone. */
const answerMs = 30_000;
/** After so many milliseconds without an answer a tab asks the leader again, and then after twice as many. */
const againMs = 200;
const againMsMax = 15_000;

/**
 * The tabs of an origin that share one stream. The one that holds a Web Lock, the leader, follows the server for all: the
 * others say what they follow, and the leader tells them by a BroadcastChannel what the server tells.
 */
export class Tabs {
  readonly #id: number;
  readonly #others = new Map<number, Other>();
  #own: Members = {};
  #keeps: readonly string[] = [];
  #leader: number | null = null;
  #isLeading = false;
  #count = 0;
  /** Ends the waiting for an answer about all members of this tab; null where none is expected. */
  #stopWaiting: (() => void) | null = null;
  #againMs = againMs;
  /** Whether the leader was asked about all members and has not answered. */
  #expectsAll = false;
  /** Whether the leader has told something since that this tab cannot take. */
  #hasMissed = false;
  #reportedAtMs = 0;
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

  /** Those whose rows other tabs keep on the device. */
  get kept(): readonly string[] {
    return [...this.#others.values()].flatMap(({ keeps }) => keeps);
  }

  /**
   * Says what this tab follows, and of what it keeps the rows on the device. It lacks the rows of members that it has not
   * followed before.
   */
  want(members: Members, keeps: readonly string[]): void {
    const names = Object.keys(members);
    const added = names.filter((name) => !(name in this.#own));
    this.#own = members;
    this.#keeps = keeps;
    this.#say(added, added.length === names.length);
  }

  /** Listens to the leader. `onSilence` is called if it says nothing for too long. */
  listen(onSilence: () => void): void {
    this.#onSilence = onSilence;
    this.#cancel = this.surroundings.after(silenceMs, onSilence);
  }

  /** From now on this tab is the leader. The others answer with what they follow. */
  lead(): void {
    this.#cancel();
    this.#hasMissed = false;
    this.#isLeading = true;
    this.#count = 0;
    this.#beat();
  }

  /** Lets the others know from time to time that the leader is there, also while the server says nothing. */
  #beat(): void {
    this.tell(this.parts.held([]));
    this.#cancel = this.surroundings.after(reportMs, () => this.#beat());
  }

  /** Tells the other tabs, as their leader. */
  tell(told: Told): void {
    if (told.step !== null) this.#count++;
    this.#send(told);
    this.#forgetGone();
  }

  close(): void {
    this.#cancel();
    this.#stopWaiting?.();
    this.#hasMissed = false;
    this.#own = {};
    this.#keeps = [];
    this.#say([]);
    this.channel.close();
  }

  #send({ state: { status }, step, checkpoint }: Told, to: number | null = null, isAll = false): void {
    const told: Told = { state: { status, error: null }, step, checkpoint };
    this.channel.postMessage({ leader: this.#id, count: this.#count, ...told, to, isAll } satisfies Word);
  }

  #say(asks: readonly string[], isAll = false): void {
    if (this.#isLeading) return;
    this.#reportedAtMs = this.surroundings.now();
    if (isAll) {
      this.#expectsAll = true;
      this.#stopWaiting?.();
      this.#stopWaiting = this.surroundings.after(this.#againMs, () => {
        this.#stopWaiting = null;
        this.#againMs = Math.min(2 * this.#againMs, againMsMax);
        if (this.#hasMissed) this.#askAll();
      });
    }
    this.channel.postMessage({ tab: this.#id, wants: this.#own, keeps: this.#keeps, asks, isAll } satisfies Wish);
  }

  #askAll(): void {
    this.#hasMissed = true;
    if (this.#stopWaiting === null) this.#say(Object.keys(this.#own), true);
  }

  #wished({ tab, wants, keeps, asks, isAll }: Wish): void {
    if (!this.#isLeading) return;
    const before = namesIn(this.wanted);
    if (namesIn(wants) === "") this.#others.delete(tab);
    else this.#others.set(tab, { wants, keeps, heardAtMs: this.surroundings.now(), waitsSinceMs: null });
    if (asks.length > 0) this.#send(this.parts.held(asks), tab, isAll);
    if (namesIn(this.wanted) !== before) this.parts.wantsChanged();
  }

  #said({ leader, count, to, isAll, ...told }: Word): void {
    if (this.#isLeading || (to !== null && to !== this.#id)) return;
    // It was asked twice, because the first answer came late.
    if (isAll && !this.#expectsAll) return;
    this.#cancel();
    this.#cancel = this.surroundings.after(silenceMs, this.#onSilence);
    const isNext = to === null && told.step !== null;
    const hasMissed = leader !== this.#leader || count !== (isNext ? this.#count + 1 : this.#count);
    // What was missed is in the answer about all members; one about some of them says nothing of the others.
    if (hasMissed && !isAll) this.#askAll();
    if (hasMissed && !isAll) return;
    this.#leader = leader;
    this.#count = count;
    if (isAll) {
      this.#hasMissed = false;
      this.#expectsAll = false;
      this.#againMs = againMs;
      this.#stopWaiting?.();
      this.#stopWaiting = null;
    }
    this.parts.told(told, isAll);
    if (this.surroundings.now() - this.#reportedAtMs >= reportMs) this.#say([]);
  }

  /** Tabs that were closed answer no more. */
  #forgetGone(): void {
    const nowMs = this.surroundings.now();
    const before = this.#others.size;
    for (const [tab, other] of this.#others) {
      if (other.waitsSinceMs !== null && nowMs - other.waitsSinceMs > answerMs) this.#others.delete(tab);
      else if (nowMs - other.heardAtMs > 2 * reportMs) other.waitsSinceMs ??= nowMs;
    }
    if (this.#others.size < before) this.parts.wantsChanged();
  }
}

const namesIn = (members: Members) => Object.keys(members).sort().join();
