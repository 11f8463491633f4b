import { closeSync, existsSync, fstatSync, fsync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "../../encoding/hex.js";
import type { JournalEntry } from "../../platform/journal.js";
import { lockDirectory } from "../database/directory-lock.js";
import type { FileLock } from "../database/file-lock.js";
import { makePrivateDirectory, privateFile } from "../private-files.js";
import { endLine, entryLine, reservedLine } from "./journal-format.js";
import type { FileJournalOptions } from "./options.js";
import { syncToDisk } from "./sync-to-disk.js";

/** How many sequence numbers for receipts are reserved at once. A crash leaves a gap of at most two such blocks. */
export const blockSize = 1_000;
/**
 * Once a segment (a file of the journal) has more bytes than this, the next one is begun. Segments are kept small
 * because each is read back as a whole before it is stored.
 */
const segmentBytesMax = 196_608;
/** A receipt that was written to a segment is on the disk after this many milliseconds at the latest. */
const syncEveryMs = 1_000;
/** After a failure the writer waits this many milliseconds before it tries to open a new segment. */
const reopenAfterMs = 250;

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

  /** The directory of the segments; null as long as this writer holds none. */
  get directory(): string | null {
    return this.#held?.directory ?? null;
  }

  /** The segment that is being written; null where there is none. */
  get segment(): Readonly<Pick<Segment, "name" | "bytes">> | null {
    return this.#segment;
  }

  /** Makes the directory, and a segment to write to, unless they exist already. Throws where that fails. */
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

  /**
   * Returns how many more receipts can be written without waiting for the disk. Throws where there is no segment and
   * none can be opened.
   */
  reservedLeft(): number {
    return this.#opened().reserved - this.#next;
  }

  /**
   * Writes an entry whose receipts take `count` sequence numbers, in one write, and returns how many bytes it has.
   * Throws where the entry is not written.
   */
  write(entry: JournalEntry, count: number): number {
    let bytes: number;
    try {
      bytes = this.#write(entry, count);
    } catch (error) {
      this.#abandon();
      throw error;
    }
    try {
      this.#prepareNext(this.#segment!);
    } catch {
      // A failure to prepare the next write is not passed on: the entry is written already, and would otherwise be
      // written a second time.
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
    const file = openSync(path, "ax", privateFile);
    const reserved = this.#next + blockSize;
    const text = reservedLine(this.#next, reserved);
    try {
      writeAll(file, text);
      fsyncSync(file);
      syncToDisk(directory);
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
    return { file, name, bytes: text.length, written: false, reserved };
  }

  /**
   * Returns the segment that entries are written to, and opens one where there is none. Throws where no segment can be
   * opened, or where the last one failed less than `reopenAfterMs` ago.
   */
  #opened(): Segment {
    if (this.#segment === null && this.#options.clock.elapsed() - this.#failedAtMs < reopenAfterMs)
      throw new Error("the journal is not open");
    this.open();
    return this.#segment!;
  }

  #write(entry: JournalEntry, count: number): number {
    const segment = this.#opened();
    // A segment whose file somebody has deleted is refused: what is written to it would be lost when the process ends.
    if (fstatSync(segment.file).nlink === 0) throw new Error("the journal's segment has been removed");
    if (this.#next + count > segment.reserved) this.#reserveNow(segment, count);
    const line = entryLine(this.#next, entry);
    this.#next += count;
    const bytes = writeAll(segment.file, line);
    segment.bytes += bytes;
    segment.written = true;
    return bytes;
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
}

/** Makes a new directory for the segments of a journal, and locks it. */
function holdDirectory({ directory: parent, random }: FileJournalOptions) {
  const directory = join(parent, toHex(random.bytes(8)));
  makePrivateDirectory(directory);
  const lock = lockDirectory(directory);
  if (lock === null) throw new Error(`${directory} is in use`);
  return { directory, lock };
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
