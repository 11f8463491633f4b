import type { SvcError } from "../error.js";

/** The tables to follow, by their names, as `docs/sync.md` has them. */
export type FollowedTables = Readonly<Record<string, object>>;

/** A change of a row (`docs/sync.md`). */
export interface Change {
  readonly table: string;
  /** What has become of the row. `remove`: it is deleted, or the caller may not see it any more. */
  readonly op: "insert" | "update" | "remove";
  /** The values of the columns of the primary key. */
  readonly key: Readonly<Record<string, unknown>>;
  /** All that the caller may see of the row; absent where it is removed. */
  readonly row?: Readonly<Record<string, unknown>>;
}

/** The changes that lead from one whole state of followed rows to the next. */
export interface Step {
  readonly changes: readonly Change[];
  /** Whether the changes are all rows that there are, and replace what was known before. */
  readonly isReset: boolean;
  /** Where to go on from after these changes; null for a state that the server has not told, as after signing out. */
  readonly checkpoint: string | null;
  /**
   * The last mutation of each client of the caller that is in this state (`docs/sync.md#push`), by the clients' names.
   */
  readonly clients?: Clients;
}

/** By the names of clients that push, the id of the last of their mutations that is in a state. */
export type Clients = Readonly<Record<string, number>>;

/**
 * How up to date the rows are that are shown. `live`: they are what the server has; `reconnecting`: as of the last time
 * that the server was reached; `signed_out`: the session is over, and nothing is shown until somebody signs in;
 * `refused`: the server has refused, for the reason in `error`, and is not asked again.
 */
export interface LiveState {
  readonly status: "live" | "reconnecting" | "signed_out" | "refused";
  /** Why the server could not be reached, or has refused; null otherwise. */
  readonly error: SvcError | null;
}

/**
 * A function that is told of every step (changes of followed rows), and of every change of state (`step` is then null).
 */
export type Follower = (state: LiveState, step: Step | null) => void;
