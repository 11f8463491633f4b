import type { Cipher, Random } from "../platform/platform.js";

/** A moment of the log. */
export interface Mark {
  /** The number of the newest entry then; 0 before the first. */
  readonly seq: number;
  /**
   * The random number of that entry, as text. A database that was restored from a copy uses numbers of entries again, and
   * has another one there. Null for the moment before the first entry.
   */
  readonly witness: string | null;
}

/** What a client has been told so far. */
export interface Checkpoint {
  /** Whose rows they are: a hash of the caller, and of what the rules read of the caller. */
  readonly who: string;
  /** Which rows they are: a hash of tables, filters, columns and rules. */
  readonly view: string;
  /** The client has everything as of this moment. Null while it is being told everything for the first time. */
  readonly from: Mark | null;
  /** Where the pages have come to that bring the client to another moment; null between two moments. */
  readonly round: Round | null;
}

/** How far the pages of one moment have come. */
export interface Round {
  readonly to: Mark;
  /** Which table is told next, counted from 0. */
  readonly table: number;
  /** The text of the key that was examined last in this table; null where none was. */
  readonly after: string | null;
}

const associated = "checkpoint";

/** Seals a checkpoint as text. */
export async function sealCheckpoint(
  { cipher, random }: { readonly cipher: Cipher; readonly random: Random },
  checkpoint: Checkpoint,
): Promise<string> {
  return cipher.seal(JSON.stringify(checkpoint), associated, random.bytes(12));
}

/** Opens what `sealCheckpoint` made; null for any other text. */
export async function openCheckpoint(cipher: Cipher, text: string): Promise<Checkpoint | null> {
  const plain = await cipher.open(text, associated);
  return plain === null ? null : JSON.parse(plain);
}
