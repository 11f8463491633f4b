import type { Cipher, Random } from "../platform/platform.js";

/** A moment in the history of the database, told by the entry of the log of changes that was the newest then. */
export interface Mark {
  /** The number of the newest entry of the log at that moment; 0 before the first entry. */
  readonly seq: number;
  /**
   * The random number that the log stores with the entry `seq`, as text; null for the moment before the first entry. It
   * tells whether the database was restored from a copy: such a database uses the numbers of entries again, with other
   * random numbers.
   */
  readonly witness: string | null;
}

/**
 * What a client that keeps a copy of rows has been told so far. The client stores it as an encrypted text, and sends it
 * with its next request to be told what comes next.
 */
export interface Checkpoint {
  /** Whose rows the client has: a hash of the caller and of what the rules read of the caller. */
  readonly who: string;
  /** Which rows the client has: a hash of the tables, filters, columns and rules. */
  readonly view: string;
  /** The moment as of which the client has all its rows; null while it is being told all of them. */
  readonly from: Mark | null;
  /** How far the client has come on the way to a later moment; null where it has had all pages. */
  readonly round: Round | null;
}

/** How far a client has come through the pages that bring it to the moment `to`. */
export interface Round {
  readonly to: Mark;
  /** The index, from 0, of the table that the next page begins with. */
  readonly table: number;
  /** The key, as text, of the last row that was examined in the table with the index `table`; null where none was. */
  readonly after: string | null;
}

const associated = "checkpoint";

/** Encrypts a checkpoint as a text, which clients can keep but neither read nor change. */
export async function sealCheckpoint(
  { cipher, random }: { readonly cipher: Cipher; readonly random: Random },
  checkpoint: Checkpoint,
): Promise<string> {
  return cipher.seal(JSON.stringify(checkpoint), associated, random.bytes(12));
}

/** Decrypts a text that `sealCheckpoint` made into the checkpoint; null for any other text. */
export async function openCheckpoint(cipher: Cipher, text: string): Promise<Checkpoint | null> {
  const plain = await cipher.open(text, associated);
  return plain === null ? null : JSON.parse(plain);
}
