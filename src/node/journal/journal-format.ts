import { crc32 } from "node:zlib";
import {
  type Gap,
  type JournalEntry,
  type Receipt,
  type ReceiptValues,
  receiptOf,
  receiptValues,
  sumOf,
} from "../../platform/journal.js";
import { withSumsTogether } from "../../platform/receipt-sums.js";

/**
 * A segment of the journal is a text file. Each line is the CRC-32 of its JSON (8 hexadecimal digits), a space and
 * the JSON:
 *
 * - `{"reserved":[from,to]}`: the sequence numbers from `from` to `to - 1` may be used from now on. This line is on
 *   the disk before any of them is used;
 * - `{"seq":n,"receipts":[[…],…],"gaps":[{…},…]}`: receipts with the sequence numbers `n`, `n + 1` and so on. A receipt
 *   that is the sum of several requests has as many sequence numbers as requests. A last line of nothing but sums is
 *   replaced as they grow;
 * - `{"end":n}`: no number from `n` on was used.
 *
 * After a crash, the reserved numbers without a receipt tell how many receipts may be missing at most.
 */
type Line =
  | { readonly reserved: readonly [from: number, to: number] }
  | { readonly seq: number; readonly receipts: readonly ReceiptValues[]; readonly gaps: readonly Gap[] }
  | { readonly end: number };

/** Reserves the sequence numbers from `from` to `to - 1`. */
export const reservedLine = (from: number, to: number): string => line({ reserved: [from, to] });
/** The last line of a segment: no sequence number from `next` on was used. */
export const endLine = (next: number): string => line({ end: next });

/**
 * The line of an entry whose first receipt has the sequence number `seq`. The whole entry is one line, so that a write
 * that was cut short, which the caller saw fail, leaves none of its receipts.
 */
export function entryLine(seq: number, { receipts, gaps }: JournalEntry): string {
  return line({ seq, receipts: receipts.map(receiptValues), gaps });
}

function line(content: Line): string {
  const text = JSON.stringify(content);
  return `${checksum(text)} ${text}\n`;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

/** The content of a segment, as far as it could be read. */
export interface ReadSegment extends JournalEntry {
  /** How many reserved sequence numbers have no receipt: at most so many receipts are missing. */
  readonly missing: number;
}

/** Parses a segment, or some whole lines of it. Incomplete or damaged lines are skipped. */
export function readSegment(text: string): ReadSegment {
  const receipts = new Map<number, Receipt>();
  let requests = 0;
  const gaps: Gap[] = [];
  let from: number | null = null;
  let to = 0;
  // After the last line break comes nothing, or a line that was not written completely.
  for (const content of text.split("\n").slice(0, -1).map(parseLine)) {
    if (content === null) continue;
    if ("reserved" in content) {
      from ??= content.reserved[0];
      to = content.reserved[1];
    } else if ("receipts" in content) {
      let { seq } = content;
      for (const values of content.receipts) {
        const receipt = receiptOf(values);
        const count = sumOf(receipt).requests;
        if (!receipts.has(seq)) requests += count;
        receipts.set(seq, receipt);
        seq += count;
      }
      gaps.push(...content.gaps);
    } else if ("end" in content) to = content.end;
  }
  const missing = Math.max(0, to - (from ?? to) - requests);
  return { receipts: [...receipts.values()], gaps, missing };
}

function parseLine(text: string): Line | null {
  const content = text.slice(9);
  return text[8] === " " && text.slice(0, 8) === checksum(content) ? (JSON.parse(content) as Line) : null;
}

/**
 * Reads a piece of a segment as the database stores it: sums that are alike in table, minute, method, action and status
 * become one.
 */
export function readPiece(text: string): ReadSegment {
  const read = readSegment(text);
  return { ...read, receipts: withSumsTogether(read.receipts) };
}

/**
 * About how many characters a piece has. This must not change between releases: pieces that were stored before a crash
 * would be cut differently afterwards, and so not be recognised as stored already.
 */
const pieceCharacters = 32_768;

/**
 * Cuts a segment into pieces of whole lines, which are stored one after the other. The pieces are small, because
 * objects that live only during one short write are cheap to garbage-collect. The same text always gives the same
 * pieces, because the database recognises what it has stored already by the first receipt that a piece has of each day.
 */
export function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from + pieceCharacters) + 1 || text.length;
    yield text.slice(from, end);
    from = end;
  }
}
