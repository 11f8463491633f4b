import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers";
import { inTurn } from "../../platform/in-turn.js";
import type { Gap, Journal, JournalEntry, Receipt } from "../../platform/journal.js";
import { maySum, ReceiptSums } from "../../platform/receipt-sums.js";
import { removeJournal, segmentsIn } from "./journal-directory.js";
import type { FileJournalOptions } from "./options.js";
import { recoverJournals, storeSegment } from "./recover.js";
import { blockSize, SegmentWriter } from "./segment-writer.js";

/** A sum is written at the latest this long after its first receipt was added. */
const sumEveryMs = 1_000;
/**
 * The journal asks the database how many bytes receipts take there only once in this many collections. In between, it
 * adds up the bytes of what it has stored.
 */
const collectionsPerLook = 20;

/** Entries that are written to the file in one write. `written` settles for all of them after that write. */
interface EntryGroup {
  readonly entries: JournalEntry[];
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
  #pending: EntryGroup | null = null;
  readonly #sums = new ReceiptSums();
  #sumsDue = false;
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
    let reservedLeft: number;
    try {
      reservedLeft = this.#writer.reservedLeft();
    } catch {
      return false;
    }
    this.#sums.add(receipt);
    if (!this.#sumsDue) setTimeout(() => this.#flush(), sumEveryMs).unref();
    this.#sumsDue = true;
    if (this.#sums.requests >= Math.min(blockSize / 2, reservedLeft)) this.#flush();
    return true;
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

  /** Writes all entries that came since the last flush, and all sums, in one write. */
  #flush(): void {
    const group = this.#pending;
    this.#pending = null;
    this.#sumsDue = false;
    if (group === null && this.#sums.requests === 0) return;
    const receipts: Receipt[] = [];
    const gaps: Gap[] = [];
    for (const entry of group?.entries ?? []) {
      receipts.push(...entry.receipts);
      gaps.push(...entry.gaps);
    }
    const count = receipts.length + this.#sums.requests;
    receipts.push(...this.#sums.all());
    try {
      this.#fileBytes += this.#writer.write({ receipts, gaps }, count);
    } catch (error) {
      group?.reject(error);
      return;
    }
    this.#sums.clear();
    group?.resolve();
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

function newGroup(): EntryGroup {
  let resolve!: EntryGroup["resolve"];
  let reject!: EntryGroup["reject"];
  const written = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { entries: [], written, resolve, reject };
}
