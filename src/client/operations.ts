import type { TableTypes } from "./table-types.js";

/**
 * Takes the place of a value in a write. The value is then taken from the result of an earlier operation in the same
 * batch or mutation: `0.id` is the column `id` of the row that the first operation returns.
 */
export interface Ref {
  readonly $ref: string;
}

/**
 * The values of an operation. Instead of each of them, a reference to the result of an earlier operation may be given.
 */
type WithRefs<Values> = { readonly [C in keyof Values]: Values[C] | Ref };

/** The type of a row's key in an operation: an object with the columns of the key. */
type KeyFields<Key> = unknown extends Key
  ? Readonly<Record<string, unknown>>
  : WithRefs<Extract<Key, object>>;

/**
 * The types of the operations on one table. `Beside` is the type of the members that updates and deletions have in
 * addition.
 */
interface OperationsOn<Name, T extends TableTypes, Beside> {
  readonly create: { readonly op: "create"; readonly table: Name; readonly values: WithRefs<T["create"]> };
  readonly update: {
    readonly op: "update";
    readonly table: Name;
    readonly key: KeyFields<T["key"]>;
    readonly set: WithRefs<T["update"]>;
  } & Beside;
  readonly delete: {
    readonly op: "delete";
    readonly table: Name;
    readonly key: KeyFields<T["key"]>;
  } & Beside;
}

/** The types of a table that has no generated types. */
export type LooseTable = {
  row: Record<string, unknown>;
  create: Record<string, unknown>;
  update: Record<string, unknown>;
  key: unknown;
};

/** One write of a batch (`docs/reference/http.md#batch`). */
export type Operation<Tables = Record<never, never>> = [keyof Tables] extends [never]
  ? EachOf<OperationsOn<string, LooseTable, NothingBeside>>
  : {
      [N in keyof Tables]: Tables[N] extends TableTypes
        ? EachOf<OperationsOn<N, Tables[N], NothingBeside>>
        : never;
    }[keyof Tables];

/**
 * One write of a mutation (writes that are pushed together). `base` says what columns held when the change was made: if
 * one of them holds something else on the server by now, that is a conflict.
 */
export type PushedOperation<Tables = Record<never, never>> = [keyof Tables] extends [never]
  ? EachOf<OperationsOn<string, LooseTable, { readonly base?: LooseTable["row"] }>>
  : {
      [N in keyof Tables]: Tables[N] extends TableTypes
        ? EachOf<OperationsOn<N, Tables[N], { readonly base?: Partial<Tables[N]["row"]> }>>
        : never;
    }[keyof Tables];

/**
 * The writes of a batch have no `base` (what columns held before), because a batch compares nothing with the stored
 * row.
 */
type NothingBeside = { readonly base?: never };

type EachOf<Operations> = Operations[keyof Operations];

/**
 * The type of what an operation returns: the row; only its key where the caller may not read the row, or where it was
 * deleted.
 */
export type OperationResult<Tables, O> = O extends { readonly op: infer Op; readonly table: infer N }
  ? N extends keyof Tables
    ? Tables[N] extends { row: infer Row }
      ? Op extends "delete"
        ? Partial<Row>
        : Row
      : never
    : Record<string, unknown>
  : never;

/**
 * A mutation: writes that are done together or not at all. `id` is the number by which the client that pushes it and
 * the server know it.
 */
export interface Mutation<Tables = Record<never, never>> {
  readonly id: number;
  readonly operations: readonly PushedOperation<Tables>[];
}

/** What has become of a mutation (`docs/sync.md#push`). */
export interface MutationResult {
  readonly id: number;
  /**
   * What has become of the mutation. `duplicate`: an earlier push has applied it, or the server no longer knows what
   * became of it. A refused mutation that is sent again gets the same refusal again for as long as the server knows it.
   */
  readonly status: "applied" | "duplicate" | "conflict" | "rejected";
  /**
   * Which operation of the mutation is refused (`rejected` or `conflict`), counted from 0. Absent for the other
   * statuses, and where the mutation as a whole is malformed.
   */
  readonly operation?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly columns?: readonly string[] };
  /** The columns in conflict: the stored row holds something else in them than `base` says. */
  readonly fields?: readonly string[];
  /** The row in conflict as it is on the server now; absent where the caller may not read it. */
  readonly current?: Readonly<Record<string, unknown>>;
  /**
   * For each operation of an applied mutation, what it returns: the row, or the key of a deleted row; null for a row
   * that the caller may not read.
   */
  readonly rows?: readonly (Readonly<Record<string, unknown>> | null)[];
}

/**
 * The answer to a push. `last_id` is the id of the last mutation that the server has dealt with, and `results` say what
 * has become of those that were sent, up to that one.
 */
export interface Pushed {
  readonly last_id: number;
  readonly results: readonly MutationResult[];
}
