import type { TableTypes } from "./table-types.js";

/**
 * Stands for a value of an earlier operation's row in the same batch or mutation: `0.id` is the column `id` of what the
 * first operation answers with.
 */
export interface Ref {
  readonly $ref: string;
}

/** The values of an operation, each of which may also be taken from what an earlier operation answers with. */
type WithRefs<Values> = { readonly [C in keyof Values]: Values[C] | Ref };

/** The key of a row as an object of the key's columns. */
type KeyFields<Key> = unknown extends Key
  ? Readonly<Record<string, unknown>>
  : WithRefs<Extract<Key, object>>;

/** The operations on one table. `Beside` is what updates and deletions have beside these members. */
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

/** The types of a table for which no types were generated. */
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
 * One write of a mutation. `base` is what columns held when the change was made: where one of them holds something else
 * by now, that is a conflict.
 */
export type PushedOperation<Tables = Record<never, never>> = [keyof Tables] extends [never]
  ? EachOf<OperationsOn<string, LooseTable, { readonly base?: LooseTable["row"] }>>
  : {
      [N in keyof Tables]: Tables[N] extends TableTypes
        ? EachOf<OperationsOn<N, Tables[N], { readonly base?: Partial<Tables[N]["row"]> }>>
        : never;
    }[keyof Tables];

/** The writes of a batch have no `base`, as a batch compares nothing. */
type NothingBeside = { readonly base?: never };

type EachOf<Operations> = Operations[keyof Operations];

/**
 * What an operation answers with: the row; only its key where the caller may not read the row, or where it was deleted.
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

/** A mutation: writes that belong together, and the number by which their client and the server know them. */
export interface Mutation<Tables = Record<never, never>> {
  readonly id: number;
  readonly operations: readonly PushedOperation<Tables>[];
}

/** What has become of a mutation (`docs/sync.md#push`). */
export interface MutationResult {
  readonly id: number;
  /** What has become of the mutation. `duplicate`: it was applied, or refused, by an earlier push. */
  readonly status: "applied" | "duplicate" | "conflict" | "rejected";
  /** Which operation of the mutation is refused; it counts from 0. */
  readonly operation?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly columns?: readonly string[] };
  /** The columns of a conflict: those that hold something else than `base` says. */
  readonly fields?: readonly string[];
  /** The row of a conflict as it is now; absent where the caller may not read it. */
  readonly current?: Readonly<Record<string, unknown>>;
  /** What each operation answers with; null for what the caller may not read. */
  readonly rows?: readonly (Readonly<Record<string, unknown>> | null)[];
}

/** The answer to a push: how far the server has come, and what became of the mutations up to there. */
export interface Pushed {
  readonly last_id: number;
  readonly results: readonly MutationResult[];
}
