import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers";
import { inTurn } from "../../platform/in-turn.js";
import type { Journal, JournalEntry, Receipt } from "../../platform/journal.js";
import { maySum, ReceiptSums } from "../../platform/receipt-sums.js";
import { removeJournal, segmentsIn } from "./journal-directory.js";
import type { FileJournalOptions } from "./options.js";
import { recoverJournals, storeSegment } from "./recover.js";
import { SegmentWriter } from "./segment-writer.js";

/**
 * The journal asks the database how many bytes receipts take there only once in this many collections. In between, it
 * adds up the bytes of what it has stored.
 */
const collectionsPerLook = 20;

/** What is written to the file in one write. `written` settles for all of it after that write. */
interface Group<T> {
  readonly content: T;
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The journal of receipts of one process: a directory with append-only segments, and a lock that is released when the
 * process ends. An appended receipt is in the file before its answer is sent, so it survives the process, and is on the
 * disk within a second. A power failure can lose the receipts of that second; the reserved sequence numbers, which are
 * on the disk, then tell how many are missing at most (`docs/reference/metering.md#receipts`).
 */
export class FileJournal implements Journal {
  readonly #options: FileJournalOptions;
  readonly #writer: SegmentWriter;
  #entries: Group<JournalEntry[]> | null = null;
  #sums: Group<ReceiptSums> | null = null;
  /** The sums in the segment's last line, as long as that takes more (`SegmentWriter.takesMoreSums`). */
  #line = new ReceiptSums();
  /** How many bytes the segments of this journal have. */
  #fileBytes = 0;
  #storedBytes = 0;
  #collections = 0;
  readonly #collecting = inTurn();

  constructor(options: FileJournalOptions) {
    this.#options = options;
    this.#writer = new SegmentWriter(options);
  }

  /**
   * Makes the directory and a segment, unless the journal has them already. Throws if that fails; a later `append`
   * tries again.
   */
  open(): void {
    this.#writer.open();
  }

  append(entry: JournalEntry): Promise<void> {
    if (this.#entries === null) {
      this.#entries = newGroup<JournalEntry[]>([]);
      setImmediate(() => this.#flushEntries());
    }
    this.#entries.content.push(entry);
    return this.#entries.written;
  }

  sum(receipt: Receipt): Promise<void> | null {
    const { bound } = this.#options;
    if (bound === undefined || this.#fileBytes + this.#storedBytes < (bound.bytesMax / 4) * 3) return null;
    if (!maySum(receipt) || !this.#writer.works) return null;
    if (this.#sums === null) {
      this.#sums = newGroup(new ReceiptSums());
      setImmediate(() => this.#flushSums());
    }
    this.#sums.content.add(receipt);
    return this.#sums.written;
  }

  collect(): Promise<void> {
    return this.#collecting(() => this.#collectNow());
  }

  async close(): Promise<void> {
    this.#flush();
    try {
      // From here on, new entries are rejected, so that no answer says that one is recorded.
      this.#writer.close();
      await this.collect();
      if (this.#writer.directory !== null) await removeJournal(this.#writer.directory);
    } catch {
      // Nothing is lost: the next start finds the receipts that could not be stored now.
    } finally {
      this.#writer.release();
    }
  }

  #flush(): void {
    this.#flushEntries();
    this.#flushSums();
  }

  /** Writes all entries that came since the last flush in one write. */
  #flushEntries(): void {
    const group = this.#entries;
    this.#entries = null;
    if (group === null) return;
    const receipts = group.content.flatMap((entry) => entry.receipts);
    const gaps = group.content.flatMap((entry) => entry.gaps);
    try {
      this.#fileBytes += this.#writer.write({ receipts, gaps }, receipts.length);
    } catch (error) {
      group.reject(error);
      return;
    }
    group.resolve();
  }

  /** Writes all sums that came since the last flush in one write, together with those in the last line. */
  #flushSums(): void {
    const group = this.#sums;
    this.#sums = null;
    if (group === null) return;
    const replaces = this.#writer.takesMoreSums(group.content.requests);
    if (!replaces) this.#line.clear();
    for (const sum of group.content.all()) this.#line.add(sum);
    try {
      this.#fileBytes += this.#writer.writeSums(this.#line.all(), this.#line.requests, replaces);
    } catch (error) {
      group.reject(error);
      return;
    }
    group.resolve();
  }

  async #collectNow(): Promise<void> {
    this.#flush();
    this.#writer.rotate();
    await recoverJournals(this.#options);
    const { directory } = this.#writer;
    if (directory === null) return;
    for (const name of await segmentsIn(directory)) {
      if (name === this.#writer.segment?.name) continue;
      const path = join(directory, name);
      this.#storedBytes += await storeSegment(this.#options.store, await readFile(path, "utf8"));
      await rm(path);
    }
    this.#fileBytes = this.#writer.segment?.bytes ?? 0;
    const { bound } = this.#options;
    if (bound !== undefined && this.#collections++ % collectionsPerLook === 0)
      this.#storedBytes = await bound.storedBytes();
  }
}

function newGroup<T>(content: T): Group<T> {
  let resolve!: Group<T>["resolve"];
  let reject!: Group<T>["reject"];
  const written = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { content, written, resolve, reject };
}
