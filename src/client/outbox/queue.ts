import type { ClientParts } from "../client.js";
import { SvcError } from "../error.js";
import { exclusive } from "../exclusive.js";
import type { Change } from "../live/changes.js";
import { isFinal, untilRetry } from "../live/follow.js";
import type { Overlay } from "../live/overlays.js";
import type { MutationResult } from "../operations.js";
import type { Channel } from "../surroundings.js";
import {
  type Kept,
  type Numbered,
  nothingKept,
  numbered,
  type Queued,
  renamed,
  replaced,
  withoutQueued,
  withQueued,
} from "./kept.js";
import { OptimisticState } from "./optimistic-state.js";
import { mutationsMax, pushMutations } from "./push.js";
import { resolutionOf } from "./resolution.js";
import { defaultOutboxStorage, type OutboxStorage } from "./storage.js";
import type { OutboxOptions, OutboxState } from "./types.js";

/** How many milliseconds after its answer a mutation is shown, if the server does not tell the live lists of it. */
const unconfirmedMs = 15_000;

/** Stores the mutations of the signed-in user, and sends them in their order. */
export class MutationQueue<Tables> {
  readonly #parts: ClientParts;
  readonly #options: OutboxOptions<Tables>;
  readonly #storage: OutboxStorage;
  readonly #changed: (state?: OutboxState) => void;
  readonly #settled: (name: string, result: MutationResult) => void;
  /** The user's mutations that are not done yet, as far as this page knows. */
  #stored: readonly Queued[] = [];
  /** Being stored at the moment. */
  #adding: readonly Queued[] = [];
  /** The name under which the mutations are pushed. */
  #client = "";
  readonly #optimistic = new OptimisticState();
  #channel: Channel | null = null;
  #wake = () => {};
  /** The id of the signed-in user, null for nobody; undefined before that is known. */
  user: string | null | undefined;

  /**
   * `changed` is called when the queue has changed, and with how far sending has come when that has. `settled` is
   * called with the name of a mutation that is done or given up, and the server's answer.
   */
  constructor(
    parts: ClientParts,
    options: OutboxOptions<Tables>,
    changed: (state?: OutboxState) => void,
    settled: (name: string, result: MutationResult) => void,
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#changed = changed;
    this.#settled = settled;
    this.#storage = options.storage ?? defaultOutboxStorage();
  }

  /** The user's mutations that the server has not answered, in the order in which they are to be sent. */
  get pending(): readonly Queued[] {
    // A mutation that has just been stored may be in both lists.
    const adding = this.#adding.filter(({ name }) => !this.#stored.some((each) => each.name === name));
    return [...this.#stored, ...adding];
  }

  /** Shows the queue's mutations, and those that are done, over the rows of a live list. */
  over(...list: Parameters<Overlay>): readonly Change[] {
    return this.#optimistic.over(this.pending, this.#client, list);
  }

  /** Stores another mutation of a user, to be sent after the others. */
  async add(user: string, queued: Queued): Promise<void> {
    this.#adding = [...this.#adding, queued];
    this.#changed();
    try {
      await this.#change(user, (kept) => withQueued(kept, queued));
    } finally {
      this.#adding = this.#adding.filter((each) => each !== queued);
      this.#changed();
    }
    this.#channel?.postMessage(null);
    this.#wake();
  }

  /** Sends the stored mutations of a user, and those added later, until the signal is aborted. */
  async run(user: string | null, signal: AbortSignal): Promise<void> {
    const { surroundings, storage } = this.#parts;
    this.user = user;
    this.#stored = [];
    this.#optimistic.clear();
    if (user === null) return this.#become("signed_out");
    const lockName = `svc.outbox ${this.#nameOf(user)}`;
    this.#listen(lockName, user, signal);
    for (let failures = 0; !signal.aborted; failures++) {
      let failure: Error;
      try {
        await this.#change(user);
        if (signal.aborted) return;
        if (this.#stored.length > 0) {
          this.#become("sending");
          await exclusive(lockName, storage, surroundings, () => this.#send(user, signal));
        }
        failures = -1;
        if (this.#stored.length > 0 || signal.aborted) continue;
        this.#become("sent");
        await this.#woken(signal);
        continue;
      } catch (error) {
        failure = error as Error;
      }
      if (signal.aborted) return;
      const ofServer = failure instanceof SvcError ? failure : null;
      if (ofServer !== null && isFinal(ofServer)) {
        this.#become(ofServer.status === 401 ? "signed_out" : "refused", failure);
        await this.#woken(signal);
        continue;
      }
      this.#become("waiting", failure);
      await untilRetry(failures, ofServer, signal, surroundings);
    }
  }

  #become(status: OutboxState["status"], error: Error | null = null): void {
    this.#changed({ status, error });
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", () => resolve());
    });
  }

  /** Other tabs say what the server has answered to a mutation, or that there are new ones. */
  #listen(name: string, user: string, signal: AbortSignal): void {
    const { storage, surroundings } = this.#parts;
    // Only a storage that tabs share has other tabs to listen to.
    const channel = storage.subscribe === undefined ? null : surroundings.channel(name);
    this.#channel = channel;
    signal.addEventListener("abort", () => channel?.close());
    channel?.onMessage((message) => {
      const told = message as { readonly name: string; readonly result: MutationResult } | null;
      void this.#change(user).then(() => {
        if (told !== null) this.#settled(told.name, told.result);
        this.#changed();
      });
    });
  }

  /** Pushes the user's mutations until none is left or the signal is aborted. */
  async #send(user: string, signal: AbortSignal): Promise<void> {
    for (let max = mutationsMax; !signal.aborted; ) {
      let client = "";
      let sent: readonly Numbered[] = [];
      await this.#change(user, (kept) => {
        const next = numbered(kept, max);
        ({ client } = kept);
        ({ sent } = next);
        return next.kept;
      });
      if (sent.length === 0 || signal.aborted) return;
      this.#optimistic.sending(sent);
      const outcome = await pushMutations(this.#parts, user, client, sent, signal);
      max = outcome.max ?? max;
      for (const result of outcome.results) {
        const queued = sent.find(({ id }) => id === result.id);
        if (queued !== undefined) await this.#take(user, client, queued, result, signal);
        if (signal.aborted) break;
      }
      if (outcome.isRenamed)
        await this.#change(user, (kept) => renamed(kept, client, this.#parts.surroundings.unique()));
    }
  }

  /** Deals with the server's answer: calls the handlers, and removes the mutation from the queue or replaces it. */
  async #take(
    user: string,
    client: string,
    queued: Queued,
    result: MutationResult,
    signal: AbortSignal,
  ): Promise<void> {
    const { status } = result;
    if (status === "conflict" || status === "rejected") {
      const resolution = await resolutionOf(this.#options, queued, result);
      if (status === "conflict" && signal.aborted) return;
      if (resolution !== "discard") {
        await this.#change(user, (kept) => replaced(kept, queued, resolution as Queued["operations"]));
        return this.#changed();
      }
    } else {
      const forget = this.#optimistic.keep(queued.operations, client, result);
      this.#parts.surroundings.after(unconfirmedMs, () => {
        forget();
        this.#changed();
      });
    }
    await this.#change(user, (kept) => withoutQueued(kept, queued));
    this.#settled(queued.name, result);
    this.#channel?.postMessage({ name: queued.name, result });
    this.#changed();
  }

  #nameOf(user: string): string {
    return JSON.stringify([this.#parts.url, user, this.#options.name ?? ""]);
  }

  /**
   * Changes what is stored of a user's mutations, or only loads it, as other tabs may have changed it. If that user is
   * still signed in, this page goes on with the result.
   */
  async #change(user: string, act = (kept: Kept): Kept => kept): Promise<void> {
    const { surroundings } = this.#parts;
    let after: Kept | undefined;
    await this.#storage.change(this.#nameOf(user), (kept = nothingKept(surroundings.unique())) => {
      after = act(kept);
      return after;
    });
    if (user === this.user) ({ queue: this.#stored, client: this.#client } = after!);
  }
}
