/** Tells when the database may have changed, for those who wait for it. */
export interface Commits {
  /** A number that grows when a commit becomes known. */
  known(): number;
  /** Begins to wait, for so many milliseconds of real time in all. */
  within(ms: number): CommitWait;
}

/** Somebody's waiting for commits. */
export interface CommitWait {
  /** Whether the time is over. */
  readonly isOver: boolean;
  /**
   * Resolves once a commit is known that was not at `known`, the time is over or `signal` is aborted; or earlier than
   * that, where the runtime is not told of commits and it is time to look. Does not reject.
   */
  next(known: number, signal: AbortSignal): Promise<void>;
}
