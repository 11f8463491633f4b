import type { TableTypes } from "./table-types.js";

/**
 * Stands for a value from the result of an earlier operation in the same batch or mutation: `0.id` is the column `id`
 * of the row that the first operation returns.
 */
export interface Ref {
  readonly $ref: string;
}

/** The values of an operation, or references in their place. */
type WithRefs<Values> = { readonly [C in keyof Values]: Values[C] | Ref };

/** The columns of a row's key. */
type KeyFields<Key> = unknown extends Key ? Readonly<Record<string, unknown>> : WithRefs<Extract<Key, object>>;

/**
 * The operations on one table. `base` says what columns held when the change was made: if one of them holds something
 * else on the server by now, the operation is refused as a conflict.
 */
interface OperationsOn<Name, T extends TableTypes> {
  readonly create: { readonly op: "create"; readonly table: Name; readonly values: WithRefs<T["create"]> };
  readonly update: {
    readonly op: "update";
    readonly table: Name;
    readonly key: KeyFields<T["key"]>;
    readonly set: WithRefs<T["update"]>;
    readonly base?: Partial<T["row"]>;
  };
  readonly delete: {
    readonly op: "delete";
    readonly table: Name;
    readonly key: KeyFields<T["key"]>;
    readonly base?: Partial<T["row"]>;
  };
}

/** A table that has no generated types. */
export type LooseTable = {
  row: Record<string, unknown>;
  create: Record<string, unknown>;
  update: Record<string, unknown>;
  key: unknown;
};

/** One write of a batch (`docs/reference/http.md#batch`). */
export type Operation<Tables = Record<never, never>> = [keyof Tables] extends [never]
  ? EachOf<OperationsOn<string, LooseTable>>
  : {
      [N in keyof Tables]: Tables[N] extends TableTypes ? EachOf<OperationsOn<N, Tables[N]>> : never;
    }[keyof Tables];

/** One write of a mutation (`docs/sync.md#push`). */
export type PushedOperation<Tables = Record<never, never>> = Operation<Tables>;

type EachOf<Operations> = Operations[keyof Operations];

/** What an operation returns: the row; only its key if the caller may not read the row, or if it was deleted. */
export type OperationResult<Tables, O> = O extends { readonly op: infer Op; readonly table: infer N }
  ? N extends keyof Tables
    ? Tables[N] extends { row: infer Row }
      ? Op extends "delete"
        ? Partial<Row>
        : Row
      : never
    : Record<string, unknown>
  : never;

/** Writes that are done together or not at all. The client that pushes them and the server know them by `id`. */
export interface Mutation<Tables = Record<never, never>> {
  readonly id: number;
  readonly operations: readonly PushedOperation<Tables>[];
}

/** What has become of a mutation (`docs/sync.md#push`). */
export interface MutationResult {
  readonly id: number;
  /**
   * `duplicate`: an earlier push has applied it, or the server no longer knows what became of it. A refused mutation
   * that is sent again gets the same refusal for as long as the server knows it.
   */
  readonly status: "applied" | "duplicate" | "conflict" | "rejected";
  /** The index of the refused operation. Absent if none is refused, or if the mutation as a whole is malformed. */
  readonly operation?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly columns?: readonly string[] };
  /** The columns in conflict: the stored row holds something else in them than `base` says. */
  readonly fields?: readonly string[];
  /** The row in conflict as it is on the server now; absent if the caller may not read it. */
  readonly current?: Readonly<Record<string, unknown>>;
  /** For an applied mutation, by operation: the row, or a deleted row's key; null if the caller may not read it. */
  readonly rows?: readonly (Readonly<Record<string, unknown>> | null)[];
}

/**
 * The answer to a push. `last_id` is the last mutation that the server has dealt with. `results` say what became of
 * those that were sent, up to that one.
 */
export interface Pushed {
  readonly last_id: number;
  readonly results: readonly MutationResult[];
}
