import { type ClientParts, partsOf } from "../client.js";
import { SvcError } from "../error.js";
import { eachSession } from "../live/each-session.js";
import type { MutationResult, PushedOperation } from "../operations.js";
import type { Queued } from "./kept.js";
import { MutationQueue } from "./queue.js";
import type {
  KeyOf,
  Name,
  OutboxListener,
  OutboxOptions,
  OutboxState,
  PendingMutation,
  Sending,
  TypesOf,
} from "./types.js";

/** Stands for a user's id if the client has an API key. */
const keyUser = "key";

/** Keeps mutations until the server has done them, and sends them in order (`docs/guides/client.md#the-outbox`). */
export class Outbox<Tables = Record<never, never>> {
  readonly #parts: ClientParts;
  readonly #queue: MutationQueue<Tables>;
  readonly #listeners = new Set<{ readonly listener: OutboxListener<Tables> }>();
  readonly #settled = new Map<string, (result: MutationResult) => void>();
  readonly #end: () => void;
  #state: OutboxState = { status: "sent", error: null };

  constructor(client: object, options: OutboxOptions<Tables>) {
    this.#parts = partsOf(client);
    this.#queue = new MutationQueue(
      this.#parts,
      options,
      (state) => this.#notify(state),
      (name, result) => this.#settle(name, result),
    );
    const { sessions, hasKey, overlays } = this.#parts;
    const uncover = overlays.add((...list) => this.#queue.over(...list));
    const controller = new AbortController();
    const end = hasKey
      ? () => controller.abort()
      : eachSession(sessions, (user, signal) => this.#queue.run(user, signal));
    if (hasKey) void this.#queue.run(keyUser, controller.signal);
    this.#end = () => {
      end();
      uncover();
    };
  }

  /** The user's mutations that the server has not answered, in the order in which they are sent. */
  get pending(): readonly PendingMutation<Tables>[] {
    return this.#queue.pending.map(({ name, operations }) => ({ name, operations }) as PendingMutation<Tables>);
  }

  get state(): OutboxState {
    return this.#state;
  }

  /** Creates a row by a mutation of its own. Resolves as `mutate` does. */
  create<N extends Name<Tables>>(table: N, values: TypesOf<Tables, N>["create"]): Promise<Sending> {
    return this.mutate([{ op: "create", table, values } as never]);
  }

  /**
   * Changes a row by a mutation of its own. If a column then holds something else on the server than `base` says, that
   * is a conflict. Resolves as `mutate` does.
   */
  update<N extends Name<Tables>>(
    table: N,
    key: KeyOf<TypesOf<Tables, N>>,
    set: TypesOf<Tables, N>["update"],
    base?: Partial<TypesOf<Tables, N>["row"]>,
  ): Promise<Sending> {
    return this.mutate([{ op: "update", table, key, set, ...(base && { base }) } as never]);
  }

  /** Deletes a row by a mutation of its own. `base` and the result are as for `update`. */
  delete<N extends Name<Tables>>(
    table: N,
    key: KeyOf<TypesOf<Tables, N>>,
    base?: Partial<TypesOf<Tables, N>["row"]>,
  ): Promise<Sending> {
    return this.mutate([{ op: "delete", table, key, ...(base && { base }) } as never]);
  }

  /**
   * Stores operations as one mutation, and sends it when that is possible. Resolves once it is stored on this device.
   * Rejects with SvcError `unauthorized` if nobody is signed in, and with the storage's error if it cannot be stored.
   */
  async mutate(operations: readonly PushedOperation<Tables>[]): Promise<Sending> {
    const { surroundings } = this.#parts;
    const user = this.#queue.user === undefined ? await this.#whoIsThere() : this.#queue.user;
    if (user === null) throw new SvcError(401, "unauthorized", "sign in first: a mutation belongs to who makes it");
    // The caller may change the given objects later.
    const copy = JSON.parse(JSON.stringify(operations)) as Queued["operations"];
    const queued: Queued = { name: surroundings.unique(), id: null, operations: copy };
    const settled = new Promise<MutationResult>((resolve) => this.#settled.set(queued.name, resolve));
    try {
      await this.#queue.add(user, queued);
    } catch (error) {
      this.#settled.delete(queued.name);
      throw error;
    }
    return { name: queued.name, settled };
  }

  /** Resolves once the server has answered every mutation of the signed-in user. */
  async whenSent(): Promise<void> {
    if (this.#queue.user === undefined) await this.#whoIsThere();
    await new Promise<void>((resolve) => {
      const forget = this.listen((pending, state) => {
        if (pending.length > 0 || state.status === "sending") return;
        forget();
        resolve();
      });
    });
  }

  /** Calls `listener` now, and when pending mutations or the state change. Returns a function that ends this. */
  listen(listener: OutboxListener<Tables>): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    queueMicrotask(() => this.#listeners.has(entry) && listener(this.pending, this.#state));
    return () => this.#listeners.delete(entry);
  }

  /** Ends sending. What was not sent stays stored, and this outbox no longer shows it in live lists. */
  close(): void {
    this.#end();
  }

  async #whoIsThere(): Promise<string | null> {
    const { sessions, hasKey } = this.#parts;
    return hasKey ? keyUser : ((await sessions.load())?.user.id ?? null);
  }

  #notify(state = this.#state): void {
    this.#state = state;
    this.#parts.overlays.changed();
    for (const { listener } of this.#listeners) listener(this.pending, this.#state);
  }

  #settle(name: string, result: MutationResult): void {
    this.#settled.get(name)?.(result);
    this.#settled.delete(name);
  }
}
