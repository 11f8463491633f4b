import type { SvcError } from "../error.js";

/** The tables to follow, each with which of its rows and columns are followed (`docs/sync.md`). */
export type FollowedTables = Readonly<Record<string, object>>;

/** A change of a row, as the server tells it (`docs/sync.md`). */
export interface Change {
  readonly table: string;
  /** `remove`: the row is deleted, or the caller may not see it any more. */
  readonly op: "insert" | "update" | "remove";
  /** The columns of the primary key. */
  readonly key: Readonly<Record<string, unknown>>;
  /** All that the caller may see of the row; absent if it is removed. */
  readonly row?: Readonly<Record<string, unknown>>;
}

/** The changes that lead from one consistent state of followed rows to the next. */
export interface Step {
  readonly changes: readonly Change[];
  /** Whether the changes are all rows that there are, which replace what was known before. */
  readonly isReset: boolean;
  /** Where to go on from. Null for a state that the server has not told, such as the empty one after signing out. */
  readonly checkpoint: string | null;
  /** For each client that has pushed lately, its last mutation in this state; absent if the server does not say. */
  readonly clients?: Clients;
}

/**
 * For each client of the caller that has pushed mutations lately, by its name: the id of its last mutation that is part
 * of a state of rows (`docs/sync.md#push`).
 */
export type Clients = Readonly<Record<string, number>>;

/**
 * How up to date the rows are. `stored`: as they were kept on the device when the page was last open; `live`: as the server has them; `reconnecting`: as of the last time that the server was
 * reached; `signed_out`: the session is over, and nothing is shown until somebody signs in; `refused`: the server has
 * refused, for the reason in `error`, and is not asked again.
 */
export interface LiveState {
  readonly status: "stored" | "live" | "reconnecting" | "signed_out" | "refused";
  /**
   * Why the server could not be reached, or has refused. Null in the states `stored` and `live`, and in `reconnecting` at the
   * beginning, after a connection that ended without an error, or if another tab tells of it.
   */
  readonly error: SvcError | null;
}

/** Called with every step, and with every change of state: `step` is then null. */
export type Follower = (state: LiveState, step: Step | null) => void;
