import type { LooseTable, MutationResult, PushedOperation } from "../operations.js";
import type { TableTypes } from "../table-types.js";
import type { OutboxStorage } from "./storage.js";

/** A mutation that the server has not answered. */
export interface PendingMutation<Tables = Record<never, never>> {
  /** Given by the outbox, and unique in it. */
  readonly name: string;
  readonly operations: readonly PushedOperation<Tables>[];
}

/** A mutation that the server has refused for good, and why. */
export interface Refused<Tables = Record<never, never>> {
  readonly mutation: PendingMutation<Tables>;
  /** Null if the whole mutation is malformed. */
  readonly operation: PushedOperation<Tables> | null;
  readonly error: NonNullable<MutationResult["error"]>;
}

/** A mutation that the server has refused because a row does not hold what the mutation's `base` says. */
export interface Conflict<Tables = Record<never, never>> extends Refused<Tables> {
  /** The columns in which the row holds something else than `base` says. */
  readonly fields: readonly string[];
  /** The row in conflict as it is on the server now; null if the user may not read it. */
  readonly current: Readonly<Record<string, unknown>> | null;
}

/** What `onConflict` decides about a mutation: to give it up (`discard`), or to send these operations instead. */
export type Resolution<Tables = Record<never, never>> = "discard" | readonly PushedOperation<Tables>[];

/**
 * How far an outbox has come. `sent`: nothing is left to send; `sending`: a push is under way; `waiting`: the server
 * could not be reached or was too busy, or the storage or a handler has failed, and the outbox tries again after a
 * pause; `signed_out`: it goes on once the user signs in again; `refused`: the server has refused the push as a whole,
 * and the outbox tries again with the next mutation.
 */
export interface OutboxState {
  readonly status: "sent" | "sending" | "waiting" | "signed_out" | "refused";
  readonly error: Error | null;
}

/** Options of `createOutbox` (`docs/guides/client.md#the-outbox`). */
export interface OutboxOptions<Tables = Record<never, never>> {
  /** Distinguishes the outbox from others of the same origin. */
  readonly name?: string;
  /** Decides what becomes of a mutation with a conflict. Without this handler, it is discarded. */
  readonly onConflict?: (conflict: Conflict<Tables>) => Resolution<Tables> | Promise<Resolution<Tables>>;
  /** Called with each mutation that is refused for another reason than a conflict. It is then given up. */
  readonly onRejected?: (refused: Refused<Tables>) => void | Promise<void>;
  /** Where mutations are stored: by default in IndexedDB, or in memory if there is none. */
  readonly storage?: OutboxStorage;
}

/** Any text if the tables are not known. */
export type Name<Tables> = [keyof Tables] extends [never] ? string : keyof Tables & string;
/** The types of a table. */
export type TypesOf<Tables, N> = N extends keyof Tables
  ? Tables[N] extends TableTypes
    ? Tables[N]
    : LooseTable
  : LooseTable;
/** The type of a row's key. */
export type KeyOf<T extends TableTypes> = unknown extends T["key"]
  ? Readonly<Record<string, unknown>>
  : Extract<T["key"], object>;

/** Called when the pending mutations or the outbox's state have changed. */
export type OutboxListener<Tables> = (pending: readonly PendingMutation<Tables>[], state: OutboxState) => void;

/** A mutation that an outbox has stored on this device and is to send. */
export interface Sending {
  readonly name: string;
  /** Resolves with what has become of the mutation, only if this page learns that. Never rejects. */
  readonly settled: Promise<MutationResult>;
}
