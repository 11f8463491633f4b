import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Gap, type JournalEntry, receiptValues } from "../../platform/journal.js";
import { lockDirectory } from "../database/directory-lock.js";
import { journalsIn, removeJournal, segmentsIn } from "./journal-directory.js";
import { piecesOf, readPiece, readSegment } from "./journal-format.js";
import type { FileJournalOptions } from "./options.js";

/** What `recoverJournals` has found and stored: the receipts of processes that have ended. */
export interface Recovered {
  readonly receipts: number;
  readonly gaps: readonly Gap[];
}

/**
 * Stores the receipts that ended processes have left in the journal's directory, and a gap for each segment where
 * receipts may be missing. Journals of running processes are left alone.
 */
export async function recoverJournals(options: FileJournalOptions): Promise<Recovered> {
  const recovered: Recovered[] = [];
  for (const left of await journalsIn(options.directory)) {
    const path = join(options.directory, left);
    const held = lockDirectory(path);
    if (held === null) continue;
    try {
      for (const name of await segmentsIn(path)) recovered.push(await recoverSegment(options, left, name));
      // The journal is removed while its lock is held: another process could otherwise lock the directory just before
      // it disappears.
      await removeJournal(path);
    } finally {
      held.release();
    }
  }
  return {
    receipts: recovered.reduce((sum, { receipts }) => sum + receipts, 0),
    gaps: recovered.flatMap(({ gaps }) => gaps),
  };
}

async function recoverSegment(
  { directory, store, clock }: FileJournalOptions,
  left: string,
  name: string,
): Promise<Recovered> {
  const path = join(directory, left, name);
  const text = await readFile(path, "utf8");
  const { receipts, missing } = readSegment(text);
  const found: Gap[] =
    missing === 0
      ? []
      : [{ id: `${left}/${name}`, atMs: clock.now(), reason: "crash", attemptsMax: missing }];
  await storeSegment(store, text);
  await storeSome(store, { receipts: [], gaps: found });
  await rm(path);
  return { receipts: receipts.length, gaps: found };
}

/** Reads the receipts of all journals in the directory, including those of running processes, and changes nothing. */
export async function readJournals(directory: string): Promise<JournalEntry> {
  const entries: JournalEntry[] = [];
  for (const left of await journalsIn(directory))
    for (const name of await segmentsIn(join(directory, left))) {
      // A segment that is missing counts as empty: a running server may have stored and deleted it in the meantime.
      const text = await readFile(join(directory, left, name), "utf8").catch(() => "");
      // The text is cut into the same pieces as for storing, so that a receipt that a server stores in the meantime is
      // recognised as the same.
      for (const piece of piecesOf(text)) entries.push(readPiece(piece));
    }
  return {
    receipts: entries.flatMap(({ receipts }) => receipts),
    gaps: entries.flatMap(({ gaps }) => gaps),
  };
}

/**
 * Stores the receipts and gaps of a segment's text in the database, and returns about how many bytes they take there.
 */
export async function storeSegment(store: FileJournalOptions["store"], text: string): Promise<number> {
  let bytes = 0;
  for (const piece of piecesOf(text)) {
    const entry = readPiece(piece);
    await storeSome(store, entry);
    bytes += JSON.stringify(entry.receipts.map(receiptValues)).length + 64;
  }
  return bytes;
}

/** Stores a journal entry unless it is empty. */
async function storeSome(store: FileJournalOptions["store"], entry: JournalEntry): Promise<void> {
  if (entry.receipts.length > 0 || entry.gaps.length > 0) await store(entry);
}
