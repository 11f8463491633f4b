import type { Checkpoint, Mark, Round } from "./checkpoint.js";

/** Why a client has to begin anew, and is told all rows again. */
export type ResetReason = "retention" | "restore" | "rules" | "identity" | "budget";

/** What the database says of the log of changes, as of a request for changes. */
export interface LogHead {
  readonly newest: Mark;
  /** The random number of the log's entry at which the checkpoint's `from` is; null where the log does not have it. */
  readonly witnessAtFrom: string | null;
  /**
   * The random number of the log's entry at which the checkpoint's `round.to` is; null where the log does not have it.
   */
  readonly witnessAtTo: string | null;
  /** The first moment that the logs of all tables that the client follows know. */
  readonly floor: number;
  /** How many entries the log has after the checkpoint's `from`, counted up to one more than `entriesMax`. */
  readonly entries: number;
  /** Whether any entry after the checkpoint's `from` is of a table that the client follows. */
  readonly isConcerned: boolean;
  /** Whether any entry after the checkpoint's `from` is of a table that read rules of the followed tables look into. */
  readonly isRelated: boolean;
}

/**
 * Where the log has more entries than these since its checkpoint, a client begins anew instead of being told what has
 * changed.
 */
export const entriesMax = 50_000;

/**
 * What to tell a client: the changes from the moment `from`, or all rows where that is null, as of the moment
 * `round.to`. `reset` is why it begins anew although it gave a checkpoint.
 */
export interface Course {
  readonly from: Mark | null;
  readonly round: Round;
  readonly reset: ResetReason | null;
}

/** Decides how to go on from the checkpoint of a client, null for a client that has none. */
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

/** The course by which a client is told all rows as of the moment `to`. */
export function anew(to: Mark, reset: ResetReason | null): Course {
  return { from: null, round: { to, table: 0, after: null }, reset };
}
