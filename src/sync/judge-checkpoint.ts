import { beginning, type Checkpoint, type CopyProgress, type Mark, type Round } from "./checkpoint.js";

/** Why a client is told all rows again, although it sent a checkpoint. */
export type ResetReason = "retention" | "restore" | "rules" | "identity" | "budget";

/** The log of changes at the time of a client's request. */
export interface LogHead {
  readonly newest: Mark;
  /** The witness of the log's entry at the checkpoint's `from`; null where the log does not have it. */
  readonly witnessAtFrom: string | null;
  /** The witness of the log's entry at `round.to`; null where the log does not have it. */
  readonly witnessAtTo: string | null;
  /**
   * The number of the log entry after which the log is complete for all tables that matter to the client: those that it
   * follows, and those that their read rules look into.
   */
  readonly floor: number;
  /** How many entries the whole log has after the checkpoint's `from`; counting stops at `entriesMax` + 1. */
  readonly entries: number;
  /** Whether any entry after the checkpoint's `from` is of a table that matters to the client. */
  readonly isConcerned: boolean;
  /** Whether any entry after the checkpoint's `from` is of a table that read rules of the followed tables look into. */
  readonly isRelated: boolean;
}

/** With more entries than this since its checkpoint, a client begins anew with all rows. */
export const entriesMax = 50_000;

/**
 * What a client is told. Without `copy`: the changes from the moment `from` to the moment `round.to`. With `copy`, the
 * next page of all rows, and for those that were told before the changes since `from`; a `round` is underway there only
 * if these changes have more than one page. `reset` is the reason if the client is told all rows although it sent a
 * checkpoint.
 */
export type Course = Following | Copying;

/** The course of a client that has a copy of all rows. */
export interface Following {
  readonly copy: null;
  readonly from: Mark;
  readonly round: Round;
  readonly reset: null;
}

/** The course of a client that is told all rows. */
export interface Copying {
  readonly copy: CopyProgress;
  readonly from: Mark | null;
  readonly round: Round | null;
  readonly reset: ResetReason | null;
}

/** Decides what a client is told next; a null checkpoint stands for a client without one. */
export function judgeCheckpoint(
  checkpoint: Checkpoint | null,
  { who, view }: Pick<Checkpoint, "who" | "view">,
  head: LogHead,
): Course {
  const { newest } = head;
  if (checkpoint === null) return anew(null);
  if (checkpoint.who !== who) return anew("identity");
  if (checkpoint.view !== view) return anew("rules");
  const { from, round, copy } = checkpoint;
  const marks = [
    ...(from === null ? [] : [{ mark: from, witness: head.witnessAtFrom }]),
    ...(round === null ? [] : [{ mark: round.to, witness: head.witnessAtTo }]),
  ];
  for (const { mark, witness } of marks) {
    if (mark.seq > newest.seq) return anew("restore");
    if (mark.seq < head.floor || (witness === null && mark.seq > 0)) return anew("retention");
    if (witness !== mark.witness) return anew("restore");
  }
  if (from !== null && head.entries > entriesMax) return anew("budget");
  return copy === null
    ? { copy, from: from!, round: round ?? roundTo(newest), reset: null }
    : { copy, from, round, reset: null };
}

/** The course of a client that begins a copy of all rows. `reset` is null if it had no checkpoint. */
export function anew(reset: ResetReason | null): Copying {
  return { copy: beginning, from: null, round: null, reset };
}

/** The beginning of a round to a moment. */
export const roundTo = (to: Mark): Round => ({ to, table: 0, after: null });
