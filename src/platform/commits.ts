/** Tells waiting callers that the database may have changed. */
export interface Commits {
  /** Grows each time a commit becomes known. */
  known(): number;
  /** To be called when waiting callers have to look again, though nothing was committed: after a change of the rules. */
  announce(): void;
  /** Begins a wait for commits, which ends after `ms` milliseconds of real time. */
  within(ms: number): CommitWait;
}

/** A wait for commits of the database. */
export interface CommitWait {
  /** Whether the time of the wait is over. */
  readonly isOver: boolean;
  /**
   * Resolves once a commit is known that was not when `Commits.known()` gave `known`, once the time is over, or once
   * `signal` is aborted. If the runtime does not learn of commits, it resolves earlier, when it is time to look into
   * the database. Does not reject.
   */
  next(known: number, signal: AbortSignal): Promise<void>;
}
