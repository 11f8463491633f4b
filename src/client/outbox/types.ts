import type { LooseTable, MutationResult, PushedOperation } from "../operations.js";
import type { TableTypes } from "../table-types.js";
import type { OutboxStorage } from "./storage.js";

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

/** The type of names of tables: any text where the tables are not known. */
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

/** A function that is called with the pending mutations and the outbox's state when either has changed. */
export type Listener<Tables> = (pending: readonly PendingMutation<Tables>[], state: OutboxState) => void;

/** A mutation that an outbox has stored on this device and is to send, as `mutate` returns it. */
export interface Sending {
  readonly name: string;
  /** Resolves with what has become of the mutation. It does so only if this page learns that, and it never rejects. */
  readonly settled: Promise<MutationResult>;
}
