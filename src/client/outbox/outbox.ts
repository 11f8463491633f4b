import { type ClientParts, partsOf } from "../client.js";
import { SvcError } from "../error.js";
import { exclusive } from "../exclusive.js";
import type { Change } from "../live/changes.js";
import { eachSession } from "../live/feed.js";
import { isFinal, untilOnline } from "../live/follow.js";
import type { LooseTable, MutationResult, Pushed, PushedOperation } from "../operations.js";
import type { Channel } from "../surroundings.js";
import type { TableTypes } from "../table-types.js";
import {
  type Kept,
  nothingKept,
  numbered,
  type Queued,
  renamed,
  replaced,
  withoutQueued,
  withQueued,
} from "./kept.js";
import { type Untold, withUntold } from "./optimistic.js";
import { defaultOutboxStorage, type OutboxStorage } from "./storage.js";

/** A mutation (writes that become one transaction) that the server has not answered. */
export interface PendingMutation<Tables = Record<never, never>> {
  /** A name that the outbox gives to the mutation. No other mutation in the outbox has it. */
  readonly name: string;
  readonly operations: readonly PushedOperation<Tables>[];
}

/** A mutation that the server has refused for good, and why. */
export interface Refused<Tables = Record<never, never>> {
  readonly mutation: PendingMutation<Tables>;
  /** The operation of the mutation that is refused; null where the whole mutation is malformed. */
  readonly operation: PushedOperation<Tables> | null;
  readonly error: NonNullable<MutationResult["error"]>;
}

/** A mutation that the server has refused because a row does not hold what the mutation's `base` says. */
export interface Conflict<Tables = Record<never, never>> extends Refused<Tables> {
  /** The columns in which the row holds something else than `base` says. */
  readonly fields: readonly string[];
  /** The row in conflict as it is on the server now; null where the user may not read it. */
  readonly current: Readonly<Record<string, unknown>> | null;
}

/**
 * What the handler `onConflict` decides about a mutation that has a conflict: to give it up (`discard`), or to send
 * these operations instead.
 */
export type Resolution<Tables = Record<never, never>> = "discard" | readonly PushedOperation<Tables>[];

/**
 * How far an outbox has come. `sent`: nothing is left to send; `sending`: a push is under way; `waiting`: the server
 * could not be reached or was too busy, or the storage or a handler has failed, and the outbox tries again after a
 * pause; `signed_out`: the outbox goes on once the user signs in again; `refused`: the server has refused the push as a
 * whole, and the outbox tries again when the next mutation is made.
 */
export interface OutboxState {
  readonly status: "sent" | "sending" | "waiting" | "signed_out" | "refused";
  readonly error: Error | null;
}

/** Options of `createOutbox` (`docs/guides/client.md#the-outbox`). */
export interface OutboxOptions<Tables = Record<never, never>> {
  /** The outbox's name, which distinguishes it from other outboxes of the same origin. */
  readonly name?: string;
  /** Decides what becomes of a mutation that has a conflict. Without this handler, such a mutation is discarded. */
  readonly onConflict?: (conflict: Conflict<Tables>) => Resolution<Tables> | Promise<Resolution<Tables>>;
  /**
   * A handler that is called with each mutation that the server refuses for another reason than a conflict. The
   * mutation is then given up.
   */
  readonly onRejected?: (refused: Refused<Tables>) => void | Promise<void>;
  /** Where mutations are stored: by default in IndexedDB, or in memory where there is none. */
  readonly storage?: OutboxStorage;
}

type Name<Tables> = [keyof Tables] extends [never] ? string : keyof Tables & string;
type TypesOf<Tables, N> = N extends keyof Tables
  ? Tables[N] extends TableTypes
    ? Tables[N]
    : LooseTable
  : LooseTable;
type KeyOf<T extends TableTypes> = unknown extends T["key"]
  ? Readonly<Record<string, unknown>>
  : Extract<T["key"], object>;

/** A function that is called with the pending mutations and the outbox's state when either has changed. */
type Listener<Tables> = (pending: readonly PendingMutation<Tables>[], state: OutboxState) => void;

const mutationsMax = 100;
const backoffMs = 500;
const backoffMsMax = 30_000;
/**
 * For how many milliseconds after its answer a mutation that is done is still shown over live lists, if the server does
 * not tell the lists of it.
 */
const untoldMs = 15_000;
/** The text that is used instead of a user's id if the client has an API key. */
const keyUser = "key";

/** Keeps mutations until the server has done them, and sends them in their order (`docs/guides/client.md#the-outbox`). */
export class Outbox<Tables = Record<never, never>> {
  readonly #parts: ClientParts;
  readonly #options: OutboxOptions<Tables>;
  readonly #storage: OutboxStorage;
  readonly #listeners = new Set<{ readonly listener: Listener<Tables> }>();
  readonly #settled = new Map<string, (result: MutationResult) => void>();
  readonly #end: () => void;
  /** The id of the user who is signed in, or null where nobody is; undefined before that is known. */
  #user: string | null | undefined;
  /** The stored mutations of the user that are not done yet, as far as this page knows. */
  #queue: readonly Queued[] = [];
  /** The name under which the mutations are pushed, by which the server counts them. */
  #client = "";
  /** Mutations that are being stored at the moment. */
  #adding: readonly Queued[] = [];
  /** Mutations that the server has done, but may not have told live lists of yet. */
  #done: readonly (Untold & { readonly client: string; readonly id: number })[] = [];
  #state: OutboxState = { status: "sent", error: null };
  #channel: Channel | null = null;
  #wake = () => {};
  /**
   * A counter of pushes and answers. It orders them and the rows that live lists are told: a row has the count of the
   * moment when it was seen first.
   */
  #count = 0;
  /** The names of the mutations that are on their way to the server, and the count at which they were sent. */
  #sent: { readonly names: ReadonlySet<string>; readonly at: number } = { names: new Set(), at: 0 };
  readonly #seen = new WeakMap<Change, number>();

  constructor(client: object, options: OutboxOptions<Tables>) {
    this.#parts = partsOf(client);
    this.#options = options;
    this.#storage = options.storage ?? defaultOutboxStorage();
    const { sessions, hasKey, overlays } = this.#parts;
    const uncover = overlays.add((table, terms, rows, clients) => {
      const isTold = (client: string, id: number | null) => id !== null && id <= (clients[client] ?? 0);
      const done = this.#done.filter(({ client, id }) => !isTold(client, id));
      for (const row of rows) if (!this.#seen.has(row)) this.#seen.set(row, this.#count);
      const { names, at } = this.#sent;
      const waiting = this.#pending
        .filter(({ id }) => !isTold(this.#client, id))
        .map(({ name, operations }) => ({ operations, sentAt: names.has(name) ? at : null, answer: null }));
      return withUntold(table, terms, rows, [...done, ...waiting], (row) => this.#seen.get(row)!);
    });
    const controller = new AbortController();
    const end = hasKey
      ? () => controller.abort()
      : eachSession(sessions, (user, signal) => this.#run(user, signal));
    if (hasKey) void this.#run(keyUser, controller.signal);
    this.#end = () => {
      end();
      uncover();
    };
  }

  /**
   * The mutations of the signed-in user that the server has not answered, in the order in which they are to be sent.
   */
  get pending(): readonly PendingMutation<Tables>[] {
    return this.#pending.map(({ name, operations }) => ({ name, operations }) as PendingMutation<Tables>);
  }

  get state(): OutboxState {
    return this.#state;
  }

  /** Creates a row by a mutation of its own. Resolves as `mutate` does: once the mutation is stored on this device. */
  create<N extends Name<Tables>>(table: N, values: TypesOf<Tables, N>["create"]): Promise<Sending> {
    return this.mutate([{ op: "create", table, values } as never]);
  }

  /**
   * Changes a row by a mutation of its own. If a column holds something else on the server by then than `base` says,
   * that is a conflict. Resolves as `mutate` does: once the mutation is stored on this device.
   */
  update<N extends Name<Tables>>(
    table: N,
    key: KeyOf<TypesOf<Tables, N>>,
    set: TypesOf<Tables, N>["update"],
    base?: Partial<TypesOf<Tables, N>["row"]>,
  ): Promise<Sending> {
    return this.mutate([{ op: "update", table, key, set, ...(base && { base }) } as never]);
  }

  /**
   * Deletes a row by a mutation of its own. If a column holds something else on the server by then than `base` says,
   * that is a conflict. Resolves as `mutate` does: once the mutation is stored on this device.
   */
  delete<N extends Name<Tables>>(
    table: N,
    key: KeyOf<TypesOf<Tables, N>>,
    base?: Partial<TypesOf<Tables, N>["row"]>,
  ): Promise<Sending> {
    return this.mutate([{ op: "delete", table, key, ...(base && { base }) } as never]);
  }

  /**
   * Stores operations that are to be one transaction as a mutation, and sends it when that is possible. Resolves once
   * it is stored on this device. Rejects with SvcError `unauthorized` where nobody is signed in, and with the storage's
   * error where it cannot be stored.
   */
  async mutate(operations: readonly PushedOperation<Tables>[]): Promise<Sending> {
    const { surroundings } = this.#parts;
    const user = this.#user === undefined ? await this.#whoIsThere() : this.#user;
    if (user === null)
      throw new SvcError(401, "unauthorized", "sign in first: a mutation belongs to who makes it");
    // The operations are copied, because the caller may change the given objects later.
    const copy = JSON.parse(JSON.stringify(operations)) as Queued["operations"];
    const queued: Queued = { name: surroundings.unique(), id: null, operations: copy };
    const settled = new Promise<MutationResult>((resolve) => this.#settled.set(queued.name, resolve));
    this.#adding = [...this.#adding, queued];
    this.#tell();
    try {
      await this.#change(user, (kept) => withQueued(kept, queued));
    } catch (error) {
      this.#settled.delete(queued.name);
      throw error;
    } finally {
      this.#adding = this.#adding.filter((each) => each !== queued);
      this.#tell();
    }
    this.#channel?.postMessage(null);
    this.#wake();
    return { name: queued.name, settled };
  }

  /** Resolves once the server has answered every mutation of the user who is signed in. */
  async whenSent(): Promise<void> {
    if (this.#user === undefined) await this.#whoIsThere();
    await new Promise<void>((resolve) => {
      const forget = this.listen((pending, state) => {
        if (pending.length > 0 || state.status === "sending") return;
        forget();
        resolve();
      });
    });
  }

  /**
   * Calls `listener` now, and whenever the pending mutations or the state have changed. Returns a function that ends
   * this.
   */
  listen(listener: Listener<Tables>): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    queueMicrotask(() => this.#listeners.has(entry) && listener(this.pending, this.#state));
    return () => this.#listeners.delete(entry);
  }

  /** Ends sending. What was not sent stays stored, and is no longer shown in live lists by this outbox. */
  close(): void {
    this.#end();
  }

  get #pending(): readonly Queued[] {
    // A mutation that has just been stored may be both in the queue and in `#adding`. It is to be listed once.
    const adding = this.#adding.filter(({ name }) => !this.#queue.some((each) => each.name === name));
    return [...this.#queue, ...adding];
  }

  async #whoIsThere(): Promise<string | null> {
    const { sessions, hasKey } = this.#parts;
    return hasKey ? keyUser : ((await sessions.load())?.user.id ?? null);
  }

  #tell(): void {
    this.#parts.overlays.changed();
    for (const { listener } of this.#listeners) listener(this.pending, this.#state);
  }

  #become(status: OutboxState["status"], error: Error | null = null): void {
    this.#state = { status, error };
    this.#tell();
  }

  #nameOf(user: string): string {
    return JSON.stringify([this.#parts.url, user, this.#options.name ?? ""]);
  }

  /**
   * Changes what is stored of a user's mutations. If that user is still signed in, this page goes on with the result.
   */
  async #change(user: string, act: (kept: Kept) => Kept): Promise<void> {
    const { surroundings } = this.#parts;
    let after: Kept | undefined;
    await this.#storage.change(this.#nameOf(user), (kept = nothingKept(surroundings.unique())) => {
      after = act(kept);
      return after;
    });
    if (user === this.#user) ({ queue: this.#queue, client: this.#client } = after!);
  }

  /** Sends the stored mutations of a user, and those that are added later, until the signal is aborted. */
  async #run(user: string | null, signal: AbortSignal): Promise<void> {
    const { surroundings, storage } = this.#parts;
    this.#user = user;
    this.#queue = [];
    this.#done = [];
    if (user === null) return this.#become("signed_out");
    const lockName = `svc.outbox ${this.#nameOf(user)}`;
    this.#listen(lockName, user, signal);
    for (let failures = 0; !signal.aborted; failures++) {
      let failure: Error;
      try {
        await this.#change(user, (kept) => kept);
        if (signal.aborted) return;
        if (this.#queue.length > 0) {
          this.#become("sending");
          await exclusive(lockName, storage, surroundings, () => this.#send(user, signal));
        }
        failures = -1;
        if (this.#queue.length > 0 || signal.aborted) continue;
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
      const ms = Math.min(backoffMs * 2 ** failures, backoffMsMax) * (0.5 + surroundings.random() / 2);
      await untilOnline(Math.max(ms, (ofServer?.retryAfterSeconds ?? 0) * 1000), signal, surroundings);
    }
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", () => resolve());
    });
  }

  /** Listens to other tabs, which say what the server has answered to a mutation, or that there are new ones. */
  #listen(name: string, user: string, signal: AbortSignal): void {
    const { storage, surroundings } = this.#parts;
    // There are other tabs to listen to only if the client keeps its session in a storage that tabs share.
    const channel = storage.subscribe === undefined ? null : surroundings.channel(name);
    this.#channel = channel;
    signal.addEventListener("abort", () => channel?.close());
    channel?.onMessage((message) => {
      const told = message as { readonly name: string; readonly result: MutationResult } | null;
      void this.#change(user, (kept) => kept).then(() => {
        if (told !== null) this.#settle(told.name, told.result);
        this.#tell();
      });
    });
  }

  /** Pushes the user's mutations until none is left or the signal is aborted. */
  async #send(user: string, signal: AbortSignal): Promise<void> {
    const { push, hasKey, surroundings } = this.#parts;
    for (let max = mutationsMax; !signal.aborted; ) {
      let client = "";
      let sent: ReturnType<typeof numbered>["sent"] = [];
      await this.#change(user, (kept) => {
        const next = numbered(kept, max);
        ({ client } = kept);
        ({ sent } = next);
        return next.kept;
      });
      if (sent.length === 0 || signal.aborted) return;
      this.#sent = { names: new Set(sent.map(({ name }) => name)), at: ++this.#count };
      const mutations = sent.map(({ id, operations }) => ({ id, operations }));
      const body = { client, mutations };
      const call = { method: "POST", path: "/api/_svc/push", body, signal };
      let results: readonly MutationResult[] = [];
      try {
        ({ results } = (await push(hasKey ? call : { ...call, user })).data as Pushed);
        max = mutationsMax;
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        const { status, code, message, columns, expected } = error;
        const isGap = expected !== null;
        if (!isGap && !isOfOne(error)) throw error;
        // The server has refused the push because of one of its mutations. They are now sent one by one, to find out
        // which.
        if (!isGap && sent.length > 1) max = 1;
        else {
          const [queued] = sent;
          if (!isGap && status !== 422) {
            const result = { id: queued!.id, status: "rejected", error: { code, message, columns } } as const;
            await this.#take(user, client, queued!, result, signal);
          }
          // The mutations are numbered anew under another client name. There are three reasons. The server may not know
          // any more what it has acknowledged, as after it was restored from a copy. It may know another mutation by
          // this number, as where this device's storage was copied. Or the mutation was malformed, and its number was
          // not used.
          await this.#change(user, (kept) => renamed(kept, client, surroundings.unique()));
        }
      }
      for (const result of results) {
        const queued = sent.find(({ id }) => id === result.id);
        if (queued !== undefined) await this.#take(user, client, queued, result, signal);
        if (signal.aborted) return;
      }
    }
  }

  /**
   * Deals with the server's answer to a mutation: calls the handlers, and removes the mutation from the queue or
   * replaces it.
   */
  async #take(
    user: string,
    client: string,
    queued: Queued,
    result: MutationResult,
    signal: AbortSignal,
  ): Promise<void> {
    const { onConflict, onRejected } = this.#options;
    const { status, operation, error, fields, current } = result;
    const { name, operations } = queued;
    if (status === "conflict" || status === "rejected") {
      const refused = {
        mutation: { name, operations },
        operation: operations[operation ?? -1] ?? null,
        error: error!,
      } as Refused<Tables>;
      if (status === "rejected") await handled(() => onRejected?.(refused));
      else {
        const conflict = { ...refused, fields: fields ?? [], current: current ?? null };
        const resolution = (await handled(() => onConflict?.(conflict))) ?? "discard";
        if (signal.aborted) return;
        if (resolution !== "discard") {
          await this.#change(user, (kept) => replaced(kept, queued, resolution as Queued["operations"]));
          return this.#tell();
        }
      }
    } else this.#keepDone(operations, client, result);
    await this.#change(user, (kept) => withoutQueued(kept, queued));
    this.#answer(name, result);
  }

  #answer(name: string, result: MutationResult): void {
    this.#settle(name, result);
    this.#channel?.postMessage({ name, result });
    this.#tell();
  }

  #settle(name: string, result: MutationResult): void {
    this.#settled.get(name)?.(result);
    this.#settled.delete(name);
  }

  /**
   * Goes on showing in live lists what a mutation has done, until the server tells the lists of it or `untoldMs` have
   * passed.
   */
  #keepDone(operations: Queued["operations"], client: string, { id, rows = [] }: MutationResult): void {
    const done = { client, id, operations, sentAt: null, answer: { rows, at: ++this.#count } };
    this.#done = [...this.#done, done];
    this.#parts.surroundings.after(untoldMs, () => {
      this.#done = this.#done.filter((each) => each !== done);
      this.#tell();
    });
  }
}

/** A mutation that an outbox has stored on this device and is to send, as `mutate` returns it. */
export interface Sending {
  readonly name: string;
  /** Resolves with what has become of the mutation. It does so only if this page learns that, and it never rejects. */
  readonly settled: Promise<MutationResult>;
}

/**
 * Calls a handler of the outbox's options and returns what it returns. An error of the handler is wrapped in another,
 * so that it is not taken for one of the server.
 */
async function handled<T>(handler: () => T): Promise<Awaited<T>> {
  try {
    return await handler();
  } catch (cause) {
    throw new Error("a handler of the outbox has failed", { cause });
  }
}

/** Whether a push was refused because of one of its mutations. */
function isOfOne({ status, code }: SvcError): boolean {
  return code !== "unexpected_answer" && (status === 400 || status === 413 || status === 422);
}
