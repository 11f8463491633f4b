import { closeSync, existsSync, fstatSync, fsync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "../../encoding/hex.js";
import type { JournalEntry, Receipt } from "../../platform/journal.js";
import { lockDirectory } from "../database/directory-lock.js";
import type { FileLock } from "../database/file-lock.js";
import { makePrivateDirectory, privateFile } from "../private-files.js";
import { endLine, entryLine, reservedLine } from "./journal-format.js";
import type { FileJournalOptions } from "./options.js";
import { syncToDisk } from "./sync-to-disk.js";

/** How many sequence numbers are reserved at once. A crash leaves a gap of at most two such blocks. */
export const blockSize = 1_000;
/**
 * Once a segment has more bytes than this, the next one is begun. Segments are small because each is read back as a
 * whole before it is stored.
 */
const segmentBytesMax = 196_608;
/** A line with sums is replaced by a longer one until it has so many bytes. */
const sumsBytesMax = 4_096;
/** A written receipt is on the disk after this time at the latest. */
const syncEveryMs = 1_000;
/** How long the writer waits after a failure before it tries to open a new segment. */
const reopenAfterMs = 250;

interface Segment {
  readonly file: number;
  readonly name: string;
  bytes: number;
  /** Where the last line begins, and its sequence number, if it holds nothing but sums. */
  sums: { readonly at: number; readonly seq: number } | null;
  /** Whether anything besides the first reservation was written. */
  written: boolean;
  /** Sequence numbers below this one are reserved on the disk. */
  reserved: number;
}

/**
 * Writes the segments of one journal, one after the other, into a directory of their own, which stays locked meanwhile.
 * It numbers the receipts, and reserves their sequence numbers on the disk before it uses them.
 */
export class SegmentWriter {
  readonly #options: FileJournalOptions;
  #held: { readonly directory: string; readonly lock: FileLock } | null = null;
  #segment: Segment | null = null;
  #segments = 0;
  #next = 1;
  #reserving = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #syncDue = false;
  #closed = false;

  constructor(options: FileJournalOptions) {
    this.#options = options;
  }

  /** The locked directory of the segments. */
  get directory(): string | null {
    return this.#held?.directory ?? null;
  }

  /** The segment that is being written. */
  get segment(): Readonly<Pick<Segment, "name" | "bytes">> | null {
    return this.#segment;
  }

  /** Makes the directory and a segment, unless they exist already. Throws if that fails. */
  open(): void {
    if (this.#closed) throw new Error("the journal is closed");
    if (this.#segment !== null) return;
    try {
      if (this.#held !== null && !existsSync(this.#held.lock.path)) this.release();
      this.#held ??= holdDirectory(this.#options);
      this.#segment = this.#newSegment(this.#held.directory);
    } catch (error) {
      this.#failedAtMs = this.#options.clock.elapsed();
      throw error;
    }
  }

  /** Whether entries can be written now, as far as it is known. */
  get works(): boolean {
    try {
      this.#opened();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Writes an entry whose receipts take `count` sequence numbers in one write, and returns by how many bytes the
   * segment has grown. Throws if it is not written.
   */
  write(entry: JournalEntry, count: number): number {
    return this.#prepared(() => this.#writeLine(this.#opened(), entry, count));
  }

  /** Whether the last line holds sums, which can stand for so many requests more. */
  takesMoreSums(requests: number): boolean {
    if (!this.#segment?.sums) return false;
    const { sums, bytes, reserved } = this.#segment;
    return bytes - sums.at < sumsBytesMax && this.#next + requests <= reserved;
  }

  /**
   * Writes sums of `count` requests as a line of their own, as `write` does. Where `replaces` is true, the line replaces
   * the last one, so that a file does not grow with each write of the same sums; that line must take them
   * (`takesMoreSums`), and the new one must not be shorter.
   */
  writeSums(receipts: readonly Receipt[], count: number, replaces: boolean): number {
    return this.#prepared(() => {
      const segment = this.#opened();
      const place = replaces ? segment.sums! : null;
      const grown = this.#writeLine(segment, { receipts, gaps: [] }, count, place);
      segment.sums = place ?? { at: segment.bytes - grown, seq: this.#next - count };
      return grown;
    });
  }

  #prepared(write: () => number): number {
    let bytes: number;
    try {
      bytes = write();
    } catch (error) {
      this.#abandon();
      throw error;
    }
    try {
      this.#prepareNext(this.#segment!);
    } catch {
      // The entry is written already; if this failure was passed on, it would be written a second time.
      this.#abandon();
    }
    return bytes;
  }

  /** Ends the segment if anything was written to it, and begins the next one. */
  rotate(): void {
    if (!this.#segment?.written) return;
    this.#endSegment();
    this.open();
  }

  /** Ends the segment. No other one can be opened afterwards. */
  close(): void {
    this.#closed = true;
    this.#endSegment();
  }

  /** Releases the lock of the directory. */
  release(): void {
    this.#held?.lock.release();
    this.#held = null;
  }

  #newSegment(directory: string): Segment {
    const name = `${String(++this.#segments).padStart(8, "0")}.log`;
    const path = join(directory, name);
    // Not for appending: Linux would then append each write, wherever it is to go.
    const file = openSync(path, "wx", privateFile);
    const reserved = this.#next + blockSize;
    const text = reservedLine(this.#next, reserved);
    try {
      writeAll(file, text, 0);
      fsyncSync(file);
      syncToDisk(directory);
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
    return { file, name, bytes: text.length, sums: null, written: false, reserved };
  }

  /** Throws if no segment can be opened, or the last one failed less than `reopenAfterMs` ago. */
  #opened(): Segment {
    if (this.#segment === null && this.#options.clock.elapsed() - this.#failedAtMs < reopenAfterMs)
      throw new Error("the journal is not open");
    this.open();
    return this.#segment!;
  }

  /** Writes a line at the end of the segment, or in the place of its last line. */
  #writeLine(segment: Segment, entry: JournalEntry, count: number, replaced: Segment["sums"] = null): number {
    // Somebody has deleted the file: what is written to it would be lost when the process ends.
    if (fstatSync(segment.file).nlink === 0) throw new Error("the journal's segment has been removed");
    if (replaced === null && this.#next + count > segment.reserved) this.#reserveNow(segment, count);
    const { at, seq } = replaced ?? { at: segment.bytes, seq: this.#next };
    const line = entryLine(seq, entry);
    this.#next = seq + count;
    const before = segment.bytes;
    writeLine(segment, line, at);
    segment.written = true;
    return segment.bytes - before;
  }

  #prepareNext(segment: Segment): void {
    if (!this.#syncDue) setTimeout(() => this.#sync(), syncEveryMs).unref();
    this.#syncDue = true;
    if (segment.bytes > segmentBytesMax) this.#endSegment();
    else if (segment.reserved - this.#next < blockSize / 2) this.#reserveSoon(segment);
  }

  /** Reserves sequence numbers for `count` receipts and one more block, and blocks until they are on the disk. */
  #reserveNow(segment: Segment, count: number): void {
    const to = this.#next + count + blockSize;
    writeLine(segment, reservedLine(segment.reserved, to));
    fsyncSync(segment.file);
    segment.reserved = to;
  }

  /**
   * Reserves the next block in the background, before the last one is used up, so that hardly any answer waits for the
   * disk.
   */
  #reserveSoon(segment: Segment): void {
    if (this.#reserving) return;
    const [from, to] = [segment.reserved, segment.reserved + blockSize];
    writeLine(segment, reservedLine(from, to));
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

  /** Stops writing to the segment after a failure. Its receipts are collected into the database later. */
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
      writeLine(segment, endLine(this.#next));
      fsyncSync(segment.file);
    } finally {
      closeQuietly(segment.file);
    }
  }
}

function holdDirectory({ directory: parent, random }: FileJournalOptions) {
  const directory = join(parent, toHex(random.bytes(8)));
  makePrivateDirectory(directory);
  const lock = lockDirectory(directory);
  if (lock === null) throw new Error(`${directory} is in use`);
  return { directory, lock };
}

/** Writes a line, at the end of the segment unless it replaces the last one. */
function writeLine(segment: Segment, line: string, at = segment.bytes): void {
  segment.bytes = at + writeAll(segment.file, line, at);
  segment.sums = null;
}

/** Returns the number of bytes. */
function writeAll(file: number, text: string, from: number): number {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, from + at);
  return bytes.length;
}

function closeQuietly(file: number): void {
  try {
    closeSync(file);
  } catch {
    // What was written is in the file, which is not used again.
  }
}
