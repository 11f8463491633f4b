import type { Checkpoint, Mark, Round } from "./checkpoint.js";

/** Why a client has to begin anew. */
export type ResetReason = "retention" | "restore" | "rules" | "identity" | "budget";

/** What the database says of the log, as of a request. */
export interface LogHead {
  readonly newest: Mark;
  /** The random number of the entry at which the checkpoint's `from` is; null where it is not there. */
  readonly witnessAtFrom: string | null;
  /** The same for `round.to`. */
  readonly witnessAtTo: string | null;
  /** The first moment that the logs of all tables of the view know. */
  readonly floor: number;
  /** How many entries came after `from`, up to one more than `entriesMax`. */
  readonly entries: number;
  /** Whether one of them is of a table of the view. */
  readonly isConcerned: boolean;
  /** Whether one of them is of a table that the rules of the view look into. */
  readonly isRelated: boolean;
}

/** After more entries than these, a client begins anew instead of being told what has changed. */
export const entriesMax = 50_000;

/** What to tell a client: from which moment to which, and why from nothing where a checkpoint was given. */
export interface Course {
  readonly from: Mark | null;
  readonly round: Round;
  readonly reset: ResetReason | null;
}

/** Decides how to go on from a checkpoint, null for a client that has none. */
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

/** To tell a client everything as of a moment. */
export function anew(to: Mark, reset: ResetReason | null): Course {
  return { from: null, round: { to, table: 0, after: null }, reset };
}
