import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Gap, type JournalEntry, receiptValues } from "../../platform/journal.js";
import { lockDirectory } from "../database/directory-lock.js";
import { journalsIn, removeJournal, segmentsIn } from "./journal-directory.js";
import { piecesOf, readPiece, readSegment } from "./journal-format.js";
import type { FileJournalOptions } from "./options.js";

/** The receipts of ended processes that `recoverJournals` has stored. */
export interface Recovered {
  readonly receipts: number;
  readonly gaps: readonly Gap[];
}

/**
 * Stores the receipts that ended processes have left, and a gap for each segment that may lack receipts. Journals of
 * running processes are left alone.
 */
export async function recoverJournals(options: FileJournalOptions): Promise<Recovered> {
  const recovered: Recovered[] = [];
  for (const left of await journalsIn(options.directory)) {
    const path = join(options.directory, left);
    const held = lockDirectory(path);
    if (held === null) continue;
    try {
      for (const name of await segmentsIn(path)) recovered.push(await recoverSegment(options, left, name));
      // Without the lock, another process could lock the directory just before it disappears.
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
    missing === 0 ? [] : [{ id: `${left}/${name}`, atMs: clock.now(), reason: "crash", attemptsMax: missing }];
  await storeSegment(store, text);
  await storeSome(store, { receipts: [], gaps: found });
  await rm(path);
  return { receipts: receipts.length, gaps: found };
}

/** Reads the receipts of all journals, including those of running processes, and changes nothing. */
export async function readJournals(directory: string): Promise<JournalEntry> {
  const entries: JournalEntry[] = [];
  for (const left of await journalsIn(directory))
    for (const name of await segmentsIn(join(directory, left))) {
      // A running server may have stored and deleted the segment in the meantime.
      const text = await readFile(join(directory, left, name), "utf8").catch(() => "");
      // The same pieces as for storing, so that a receipt that a server stores in the meantime is recognised as the
      // same.
      for (const piece of piecesOf(text)) entries.push(readPiece(piece));
    }
  return {
    receipts: entries.flatMap(({ receipts }) => receipts),
    gaps: entries.flatMap(({ gaps }) => gaps),
  };
}

/** Stores a segment's text, and returns about how many bytes it takes in the database. */
export async function storeSegment(store: FileJournalOptions["store"], text: string): Promise<number> {
  let bytes = 0;
  for (const piece of piecesOf(text)) {
    const entry = readPiece(piece);
    await storeSome(store, entry);
    bytes += JSON.stringify(entry.receipts.map(receiptValues)).length + 64;
  }
  return bytes;
}

async function storeSome(store: FileJournalOptions["store"], entry: JournalEntry): Promise<void> {
  if (entry.receipts.length > 0 || entry.gaps.length > 0) await store(entry);
}
