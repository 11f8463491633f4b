import type { Checkpoint, Mark, Round } from "./checkpoint.js";

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
 * What a client is told: the changes from the moment `from` to the moment `round.to`, or all rows as of `round.to` if
 * `from` is null. `reset` is the reason if the client is told all rows although it sent a checkpoint.
 */
export interface Course {
  readonly from: Mark | null;
  readonly round: Round;
  readonly reset: ResetReason | null;
}

/** Decides what a client is told next; a null checkpoint stands for a client without one. */
export function judgeCheckpoint(
  checkpoint: Checkpoint | null,
  { who, view }: Pick<Checkpoint, "who" | "view">,
  head: LogHead,
): Course {
  const { newest } = head;
  if (checkpoint === null) return anew(newest, null);
  if (checkpoint.who !== who) return anew(newest, "identity");
  if (checkpoint.view !== view) return anew(newest, "rules");
  const { from, round } = checkpoint;
  const marks = [
    ...(from === null ? [] : [{ mark: from, witness: head.witnessAtFrom }]),
    ...(round === null ? [] : [{ mark: round.to, witness: head.witnessAtTo }]),
  ];
  for (const { mark, witness } of marks) {
    if (mark.seq > newest.seq) return anew(newest, "restore");
    if (mark.seq < head.floor || (witness === null && mark.seq > 0)) return anew(newest, "retention");
    if (witness !== mark.witness) return anew(newest, "restore");
  }
  if (from !== null && head.entries > entriesMax) return anew(newest, "budget");
  return { from, round: round ?? { to: newest, table: 0, after: null }, reset: null };
}

/** The course of a client that begins anew: all rows as of the moment `to`. `reset` is null if it had no checkpoint. */
export function anew(to: Mark, reset: ResetReason | null): Course {
  return { from: null, round: { to, table: 0, after: null }, reset };
}
