/** Tells when the database may have changed, for those who wait for it. */
export interface Commits {
  /** A number that grows when a commit becomes known. */
  known(): number;
  /** Begins a wait for commits, which lasts so many milliseconds of real time in all. */
  within(ms: number): CommitWait;
}

/** A wait for commits of the database, which `Commits.within` has begun. */
export interface CommitWait {
  /** Whether the time of the wait is over. */
  readonly isOver: boolean;
  /**
   * Resolves once a commit is known that was not when `Commits.known()` gave `known`, the time is over or `signal` is
   * aborted; or earlier than that, where the runtime is not told of commits and it is time to look. Does not reject.
   */
  next(known: number, signal: AbortSignal): Promise<void>;
}
