import type { SvcError } from "../error.js";

/** The tables to follow, by their names, as `docs/sync.md` has them. */
export type FollowedTables = Readonly<Record<string, object>>;

/** A change of a row (`docs/sync.md`). */
export interface Change {
  readonly table: string;
  /** `remove`: the row is deleted, or out of the caller's sight. */
  readonly op: "insert" | "update" | "remove";
  /** The values of the columns of the primary key. */
  readonly key: Readonly<Record<string, unknown>>;
  /** All that the caller may see of the row; absent where it is removed. */
  readonly row?: Readonly<Record<string, unknown>>;
}

/** What leads from one whole state to the next. */
export interface Step {
  readonly changes: readonly Change[];
  /** Whether the changes are all there is, and replace what was there. */
  readonly isReset: boolean;
  /** Where to go on from after these changes; null for a state that the server has not said, as after signing out. */
  readonly checkpoint: string | null;
  /** Up to which of their mutations clients of the caller are in this state (`docs/sync.md#push`), by their names. */
  readonly clients?: Clients;
}

/** The last mutation that is in a state, by the names of clients. */
export type Clients = Readonly<Record<string, number>>;

/**
 * How up to date what is shown is. `live`: it is what the server has; `reconnecting`: as of the last time that the
 * server was reached; `signed_out`: the session is over, and nothing is shown until somebody signs in; `refused`: the
 * server has refused, for the reason in `error`, and is not asked again.
 */
export interface LiveState {
  readonly status: "live" | "reconnecting" | "signed_out" | "refused";
  /** Why the server could not be reached, or has refused. */
  readonly error: SvcError | null;
}

/** Is told every step, and every change of state (`step` is then null). */
export type Follower = (state: LiveState, step: Step | null) => void;
