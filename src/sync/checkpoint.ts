import { padded } from "../encoding/padded.js";
import type { Cipher, Random } from "../platform/platform.js";
import type { CursorState } from "../tables/list/cursor.js";

/** A moment in the history of the database, named by the entry of the log of changes that was the newest then. */
export interface Mark {
  /** The number of that entry; 0 before the first one. */
  readonly seq: number;
  /**
   * The random number that the log stores with the entry, as text; null before the first entry. It shows whether the
   * database was restored from a copy: such a database uses the numbers of entries again, with other random numbers.
   */
  readonly witness: string | null;
}

/**
 * What a client that keeps a copy of rows has been told so far. The client stores it as a sealed text, and sends it
 * with its next request.
 */
export interface Checkpoint {
  /** A hash of the caller to whom the client belongs. */
  readonly who: string;
  /** A hash of what rules can read of the caller. */
  readonly caller: string;
  /** The members of the client's view, in the order in which their rows are told. */
  readonly members: readonly MemberMark[];
  /** The names of the members that the client has been told to be refused. */
  readonly refused: readonly string[];
  /**
   * From the member with this index on, rows are told to clients that have none of them yet (`fresh`). It is the number
   * of members where the client has a whole state.
   */
  readonly freshFrom: number;
  /** The moment as of which the client has the rows that it has been told; null before it has been told any. */
  readonly from: Mark | null;
  /** How far these rows have been brought to a later moment; null where they are not underway to one. */
  readonly round: Round | null;
  /** How far the client's first copy of all rows has come; null where it is complete. */
  readonly copy: CopyProgress | null;
}

/** How a checkpoint names a member of a view. */
export interface MemberMark {
  readonly name: string;
  /** A hash of what the client asks for under this name. */
  readonly form: string;
  /** A hash of which rows this gives the client: the rule, the filters, the columns and the table's generation. */
  readonly rows: string;
}

/** How far the pages of a first copy have come. The rows of later members, and those after `state`, are still missing. */
export interface CopyProgress {
  /** The index of the member that the next page begins with. */
  readonly member: number;
  /** The state of this member's list from which its next page is read; null for its first page. */
  readonly state: CursorState | null;
}

/** Of how many members a client has rows that has come so far. */
export const membersTold = ({ member, state }: CopyProgress) => (state === null ? member : member + 1);

export const beginning: CopyProgress = { member: 0, state: null };

/** How far a client has come through the pages that bring it to the moment `to`. */
export interface Round {
  readonly to: Mark;
  /** The index of the member that the next page begins with. */
  readonly member: number;
  /** The key, as text, of the last row that was examined for this member; null for none. */
  readonly after: string | null;
  /** Only in a first copy: how far it had come when the round began. Later rows are as of the round's moment already. */
  readonly copied?: CopyProgress;
}

const associated = "checkpoint";

/** Clients can keep the text, but neither read nor change it. */
export async function sealCheckpoint(
  { cipher, random }: { readonly cipher: Cipher; readonly random: Random },
  checkpoint: Checkpoint,
): Promise<string> {
  return cipher.seal(padded(JSON.stringify(checkpoint)), associated, random.bytes(12));
}

/**
 * Null for a text that `sealCheckpoint` did not make. A checkpoint of version 0.2 or older names no members, so its
 * client is told all rows anew.
 */
export async function openCheckpoint(cipher: Cipher, text: string): Promise<Checkpoint | null> {
  const plain = await cipher.open(text, associated);
  if (plain === null) return null;
  return {
    members: [],
    refused: [],
    caller: "",
    freshFrom: 0,
    ...(JSON.parse(plain) as Partial<Checkpoint>),
  } as Checkpoint;
}
