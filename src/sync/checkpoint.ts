import type { Cipher, Random } from "../platform/platform.js";

/** A moment of the log of changes. */
export interface Mark {
  /** The number of the newest entry of the log at that moment; 0 before the first entry. */
  readonly seq: number;
  /**
   * The random number of the entry `seq`, as text. A database that was restored from a copy uses numbers of entries
   * again, and has another one there. Null for the moment before the first entry.
   */
  readonly witness: string | null;
}

/**
 * What a client that keeps a copy of rows has been told so far. The client holds it as a sealed text, and sends it to
 * be told what comes next.
 */
export interface Checkpoint {
  /** Whose rows the client has: a hash of the caller, and of what the rules read of the caller. */
  readonly who: string;
  /** Which rows the client has: a hash of tables, filters, columns and rules. */
  readonly view: string;
  /** The moment as of which the client has everything. Null while it is being told everything for the first time. */
  readonly from: Mark | null;
  /** How far the pages have come that bring the client to a later moment; null where it is not under way to one. */
  readonly round: Round | null;
}

/** How far the pages have come that bring a client to the moment `to`. */
export interface Round {
  readonly to: Mark;
  /** Which table is told next, counted from 0. */
  readonly table: number;
  /** The text of the key that was examined last in the table `table`; null where none was. */
  readonly after: string | null;
}

const associated = "checkpoint";

/** Seals a checkpoint as a text, which clients can keep but not read or change. */
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
