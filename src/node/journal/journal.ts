import { closeSync, existsSync, fstatSync, fsync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers";
import { toHex } from "../../encoding/hex.js";
import { inTurn } from "../../platform/in-turn.js";
import {
  type Gap,
  type Journal,
  type JournalEntry,
  type Receipt,
  receiptValues,
} from "../../platform/journal.js";
import type { Clock, Random } from "../../platform/platform.js";
import { maySum, ReceiptSums } from "../../platform/receipt-sums.js";
import { lockDirectory } from "../database/directory-lock.js";
import type { FileLock } from "../database/file-lock.js";
import { makePrivateDirectory, privateFile } from "../private-files.js";
import { journalsIn, removeJournal, segmentsIn } from "./journal-directory.js";
import { endLine, entryLine, piecesOf, readPiece, readSegment, reservedLine } from "./journal-format.js";
import { syncToDisk } from "./sync-to-disk.js";

/** What a `FileJournal` (a journal that keeps receipts in files) needs. */
export interface FileJournalOptions {
  /** The absolute path of `usage.journal_dir`, which holds the journals of all processes. */
  readonly directory: string;
  /**
   * Stores receipts and gaps (notes of missing receipts) in the database. After a crash the journal may pass the same
   * entry again, and it must not be stored a second time.
   */
  readonly store: (entry: JournalEntry) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * How much room receipts may take. Without this bound, no receipts are summed: every request keeps one of its own.
   */
  readonly bound?: JournalBound;
}

/**
 * How many bytes receipts may take in the journal's files and in the database together, and how many bytes they take in
 * the database now.
 */
export interface JournalBound {
  /**
   * How many bytes receipts may take in all. Once they take three quarters of that, receipts for which `maySum` holds
   * (those of anonymous requests that have written nothing) are added up into sums. The last quarter is room for the
   * sums.
   */
  readonly bytesMax: number;
  /** Returns how many bytes the receipts in the database take. */
  readonly storedBytes: () => Promise<number>;
}

/** How many sequence numbers for receipts are reserved at once. A crash leaves a gap of at most two such blocks. */
const blockSize = 1_000;
/**
 * Once a segment (a file of the journal) has more bytes than this, the next one is begun. Segments are kept small
 * because each is read back as a whole before it is stored.
 */
const segmentBytesMax = 196_608;
/** A receipt that was written to a segment is on the disk after this many milliseconds at the latest. */
const syncEveryMs = 1_000;
/** After a failure the journal waits this many milliseconds before it tries to open a new segment. */
const reopenAfterMs = 250;

/**
 * A sum of receipts is written to the journal at the latest this many milliseconds after its first receipt was added.
 */
const sumEveryMs = 1_000;
/**
 * The journal asks the database how many bytes receipts take there only once in this many collections (moves of
 * segments into the database). In between, it adds up the bytes of what it has stored.
 */
const collectionsPerLook = 20;

interface Segment {
  readonly file: number;
  readonly name: string;
  bytes: number;
  /** Whether anything was written to this segment beside its first line, which reserves sequence numbers. */
  written: boolean;
  /** Sequence numbers below this one are reserved, and the line that reserves them is on the disk. */
  reserved: number;
}

/**
 * Journal entries that are written to the file in one write. `written` resolves for all of them after that write, or
 * rejects where it fails.
 */
interface Group {
  readonly entries: JournalEntry[];
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The journal of receipts (records of what requests used) of one process: a directory with append-only segments, and a
 * lock that is released when the process ends. An appended receipt is in the file before its answer is sent, so it
 * survives the process, and is on the disk within a second. A power failure can lose the receipts of that second; the
 * reserved sequence numbers, which are on the disk, then tell how many are missing at most
 * (`docs/reference/metering.md#receipts`).
 */
export class FileJournal implements Journal {
  readonly #options: FileJournalOptions;
  #directory: string;
  #lock: FileLock | null = null;
  #segment: Segment | null = null;
  #segments = 0;
  #next = 1;
  #pending: Group | null = null;
  #reserving = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #syncDue = false;
  readonly #sums = new ReceiptSums();
  #sumsDue = false;
  /** How many bytes the segments in this journal's directory have. */
  #fileBytes = 0;
  #storedBytes = 0;
  #collections = 0;
  readonly #collecting = inTurn();
  #closed = false;

  constructor(options: FileJournalOptions) {
    this.#options = options;
    this.#directory = this.#newDirectory();
  }

  /**
   * Makes the journal's directory, and a segment to write to, unless the journal has them already. Throws where that
   * fails; a later `append` tries again.
   */
  open(): void {
    if (this.#closed) throw new Error("the journal is closed");
    if (this.#segment !== null) return;
    try {
      if (this.#lock !== null && !existsSync(this.#lock.path)) this.#unlock();
      if (this.#lock === null) {
        this.#directory = this.#newDirectory();
        makePrivateDirectory(this.#directory);
        this.#lock = lockDirectory(this.#directory);
        if (this.#lock === null) throw new Error(`${this.#directory} is in use`);
      }
      this.#segment = this.#newSegment();
    } catch (error) {
      this.#failedAtMs = this.#options.clock.elapsed();
      throw error;
    }
  }

  append(entry: JournalEntry): Promise<void> {
    if (this.#pending === null) {
      this.#pending = newGroup();
      setImmediate(() => this.#flush());
    }
    this.#pending.entries.push(entry);
    return this.#pending.written;
  }

  sum(receipt: Receipt): boolean {
    const { bound } = this.#options;
    if (bound === undefined || this.#fileBytes + this.#storedBytes < (bound.bytesMax / 4) * 3) return false;
    if (!maySum(receipt)) return false;
    let segment: Segment;
    try {
      segment = this.#openSegment();
    } catch {
      return false;
    }
    this.#sums.add(receipt);
    if (!this.#sumsDue) setTimeout(() => this.#flush(), sumEveryMs).unref();
    this.#sumsDue = true;
    if (this.#sums.requests >= blockSize / 2 || this.#next + this.#sums.requests >= segment.reserved)
      this.#flush();
    return true;
  }

  collect(): Promise<void> {
    return this.#collecting(() => this.#collectNow());
  }

  async close(): Promise<void> {
    this.#flush();
    // From here on, new entries are rejected, so that no answer says that one is recorded.
    this.#closed = true;
    try {
      this.#endSegment();
      await this.collect();
      if (this.#lock !== null) await removeJournal(this.#directory);
    } catch {
      // A failure is ignored, because nothing is lost: the next start finds the receipts that could not be stored now.
    } finally {
      this.#unlock();
    }
  }

  #newDirectory(): string {
    return join(this.#options.directory, toHex(this.#options.random.bytes(8)));
  }

  #unlock(): void {
    this.#lock?.release();
    this.#lock = null;
  }

  #newSegment(): Segment {
    const name = `${String(++this.#segments).padStart(8, "0")}.log`;
    const file = openSync(join(this.#directory, name), "ax", privateFile);
    const reserved = this.#next + blockSize;
    const text = reservedLine(this.#next, reserved);
    try {
      writeAll(file, text);
      fsyncSync(file);
      syncToDisk(this.#directory);
    } catch (error) {
      closeSync(file);
      rmSync(join(this.#directory, name), { force: true });
      throw error;
    }
    return { file, name, bytes: text.length, written: false, reserved };
  }

  /** Writes all entries that came since the last flush, and all sums, to the journal in one write. */
  #flush(): void {
    const group = this.#pending;
    this.#pending = null;
    this.#sumsDue = false;
    if (group === null && this.#sums.requests === 0) return;
    try {
      this.#write(group?.entries ?? []);
      this.#sums.clear();
    } catch (error) {
      this.#abandon();
      group?.reject(error);
      return;
    }
    group?.resolve();
    try {
      this.#prepareNext(this.#segment!);
    } catch {
      // A failure to prepare the next write is not passed on to the callers of `append`: their entries are written
      // already, and they would append them a second time.
      this.#abandon();
    }
  }

  /**
   * Returns the segment that entries are written to, and opens one where there is none. Throws where no segment can be
   * opened, or where the last one failed less than `reopenAfterMs` ago.
   */
  #openSegment(): Segment {
    if (this.#segment === null && this.#options.clock.elapsed() - this.#failedAtMs < reopenAfterMs)
      throw new Error("the journal is not open");
    this.open();
    return this.#segment!;
  }

  #write(entries: readonly JournalEntry[]): void {
    const segment = this.#openSegment();
    // A segment whose file somebody has deleted is refused: what is written to it would be lost when the process ends.
    if (fstatSync(segment.file).nlink === 0) throw new Error("the journal's segment has been removed");
    const receipts: Receipt[] = [];
    const gaps: Gap[] = [];
    for (const entry of entries) {
      receipts.push(...entry.receipts);
      gaps.push(...entry.gaps);
    }
    const count = receipts.length + this.#sums.requests;
    receipts.push(...this.#sums.all());
    if (this.#next + count > segment.reserved) this.#reserveNow(segment, count);
    const line = entryLine(this.#next, { receipts, gaps });
    this.#next += count;
    const bytes = writeAll(segment.file, line);
    segment.bytes += bytes;
    this.#fileBytes += bytes;
    segment.written = true;
  }

  #prepareNext(segment: Segment): void {
    if (!this.#syncDue) setTimeout(() => this.#sync(), syncEveryMs).unref();
    this.#syncDue = true;
    if (segment.bytes > segmentBytesMax) this.#endSegment();
    else if (segment.reserved - this.#next < blockSize / 2) this.#reserveSoon(segment);
  }

  /**
   * Reserves sequence numbers for `count` receipts and one more block, and blocks until the reservation is on the disk.
   */
  #reserveNow(segment: Segment, count: number): void {
    const to = this.#next + count + blockSize;
    writeAll(segment.file, reservedLine(segment.reserved, to));
    fsyncSync(segment.file);
    segment.reserved = to;
  }

  /**
   * Reserves the next block of sequence numbers in the background, before the last ones are used up, so that hardly
   * any answer has to wait for the disk.
   */
  #reserveSoon(segment: Segment): void {
    if (this.#reserving) return;
    const [from, to] = [segment.reserved, segment.reserved + blockSize];
    writeAll(segment.file, reservedLine(from, to));
    this.#reserving = true;
    fsync(segment.file, (error) => {
      this.#reserving = false;
      if (error === null && segment.reserved === from) segment.reserved = to;
    });
  }

  #sync(): void {
    this.#syncDue = false;
    const segment = this.#segment;
    if (segment === null) return;
    fsync(segment.file, (error) => {
      if (error !== null && this.#segment === segment) this.#abandon();
    });
  }

  /** Stops writing to the current segment after a failure. The receipts in it are collected into the database later. */
  #abandon(): void {
    if (this.#segment === null) return;
    this.#failedAtMs = this.#options.clock.elapsed();
    closeQuietly(this.#segment.file);
    this.#segment = null;
  }

  #endSegment(): void {
    const segment = this.#segment;
    if (segment === null) return;
    this.#segment = null;
    try {
      writeAll(segment.file, endLine(this.#next));
      fsyncSync(segment.file);
    } finally {
      closeQuietly(segment.file);
    }
  }

  async #collectNow(): Promise<void> {
    this.#flush();
    if (this.#segment?.written) {
      this.#endSegment();
      this.open();
    }
    await recoverJournals(this.#options);
    if (this.#lock === null) return;
    for (const name of await segmentsIn(this.#directory)) {
      if (name === this.#segment?.name) continue;
      const path = join(this.#directory, name);
      this.#storedBytes += await storeSegment(this.#options.store, await readFile(path, "utf8"));
      await rm(path);
    }
    this.#fileBytes = this.#segment?.bytes ?? 0;
    const { bound } = this.#options;
    if (bound !== undefined && this.#collections++ % collectionsPerLook === 0)
      this.#storedBytes = await bound.storedBytes();
  }
}

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
async function storeSegment(store: FileJournalOptions["store"], text: string): Promise<number> {
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

function newGroup(): Group {
  let resolve!: Group["resolve"];
  let reject!: Group["reject"];
  const written = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { entries: [], written, resolve, reject };
}

/** Writes all of the text to an open file, and returns its length in bytes. */
function writeAll(file: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  return bytes.length;
}

function closeQuietly(file: number): void {
  try {
    closeSync(file);
  } catch {
    // A failure to close the file is ignored: what was written is in it, and the file is not used again.
  }
}
