import {
  beginning,
  type Checkpoint,
  type CopyProgress,
  type Mark,
  type MemberMark,
  membersTold,
  type Round,
} from "./checkpoint.js";

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
   * The number of the log entry after which the log is complete for all tables that matter to the rows that the client
   * has: those that it follows, and those that their read rules look into.
   */
  readonly floor: number;
  /** How many entries the whole log has after the checkpoint's `from`; counting stops at `entriesMax` + 1. */
  readonly entries: number;
  /** The tables that matter to the client and have one of these entries. */
  readonly concerned: ReadonlySet<string>;
}

/** With more entries than this since its checkpoint, a client begins anew with all rows. */
export const entriesMax = 50_000;

/**
 * What a client is told. Without `copy`: the changes from the moment `from` to the moment `round.to`. With `copy`, the
 * next page of the rows that the client does not have yet, and for those that were told before the changes since
 * `from`; a `round` is underway there only if these changes have more than one page. `reset` is the reason if the client
 * is told all rows although it sent a checkpoint.
 */
export type Course = Following | Copying;

/** The course of a client that has a copy of all rows. */
export interface Following {
  readonly copy: null;
  readonly freshFrom: number;
  readonly from: Mark;
  readonly round: Round;
  readonly reset: null;
}

/** The course of a client that is told rows which it does not have. */
export interface Copying {
  readonly copy: CopyProgress;
  /** As in `Checkpoint`. */
  readonly freshFrom: number;
  readonly from: Mark | null;
  readonly round: Round | null;
  readonly reset: ResetReason | null;
}

/** Who asks, and for what: what a checkpoint is compared with. */
export type Asked = Pick<Checkpoint, "who" | "caller" | "members">;

/** A checkpoint for the members that a client asks for now (`carriedOver`). */
export interface Carried {
  readonly checkpoint: Omit<Checkpoint, "members">;
  /** The members in the order in which their rows are told. `rows` is null for those that begin. */
  readonly members: readonly (Pick<MemberMark, "name"> & { readonly rows: string | null })[];
  /** Of how many of them the client has rows. */
  readonly told: number;
}

/**
 * What a checkpoint means for the members that a client asks for now: those that it had in the same form go on, in the
 * order of the checkpoint, and the others come after them, to be told whole. A member that is no longer asked for is
 * forgotten.
 */
export function carriedOver(checkpoint: Checkpoint, asked: readonly Pick<MemberMark, "name" | "form">[]): Carried {
  const { members, freshFrom, from, round, copy } = checkpoint;
  const goesOn = ({ name, form }: MemberMark) => asked.some((its) => its.name === name && its.form === form);
  const isKept = members.map(goesOn);
  const kept = members.filter(goesOn);
  const added = asked.filter(({ name }) => !kept.some((its) => its.name === name));
  /** The place of a member in the new order, or of the one after it where it is forgotten. */
  const place = (index: number) => isKept.slice(0, index).filter(Boolean).length;
  const moved = ({ member, state }: CopyProgress): CopyProgress => ({
    member: place(member),
    state: isKept[member] ? state : null,
  });
  const copied = copy === null ? { member: kept.length, state: null } : moved(copy);
  const isWhole = copied.member === kept.length + added.length;
  const copiedThen = round?.copied === undefined ? { member: kept.length, state: null } : moved(round.copied);
  const isSame = kept.length === members.length && added.length === 0;
  const onItsWay = round && {
    ...round,
    member: place(round.member),
    after: isKept[round.member] ? round.after : null,
    ...(!(isSame && round.copied === undefined) && { copied: copiedThen }),
  };
  return {
    members: [...kept, ...added.map(({ name }) => ({ name, rows: null }))],
    told: membersTold(copied),
    checkpoint: {
      ...checkpoint,
      freshFrom: Math.min(place(freshFrom), copied.member),
      from: kept.length === 0 ? null : from,
      round: kept.length === 0 ? null : onItsWay,
      copy: isWhole ? null : copied,
    },
  };
}

/** Decides what a client is told next; a null checkpoint stands for a client without one. See also `carriedOver`. */
export function judgeCheckpoint(carried: Carried | null, asked: Asked, head: LogHead): Course {
  const { newest } = head;
  if (carried === null) return anew(null);
  const { checkpoint } = carried;
  if (checkpoint.who !== asked.who) return anew("identity");
  const rowsOf = (name: string) => asked.members.find((its) => its.name === name)!.rows;
  const isOther = carried.members.some(({ name, rows }) => rows !== null && rows !== rowsOf(name));
  if (isOther) return anew(checkpoint.caller === asked.caller ? "rules" : "identity");
  const { from, round, copy, freshFrom } = checkpoint;
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
    ? { copy, freshFrom, from: from!, round: round ?? roundTo(newest), reset: null }
    : { copy, freshFrom, from, round, reset: null };
}

/** The course of a client that begins a copy of all rows. `reset` is null if it had no checkpoint. */
export function anew(reset: ResetReason | null): Copying {
  return { copy: beginning, freshFrom: 0, from: null, round: null, reset };
}

/** The beginning of a round to a moment. */
export const roundTo = (to: Mark): Round => ({ to, member: 0, after: null });
