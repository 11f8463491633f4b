import { crc32 } from "node:zlib";
import {
  type Gap,
  type JournalEntry,
  type Receipt,
  type ReceiptValues,
  receiptOf,
  receiptValues,
} from "../platform/journal.js";

/**
 * A segment of the journal is lines of text, each with its checksum (CRC-32, in hexadecimal) and JSON:
 *
 * - `{"reserved":[from,to]}`: these sequence numbers may be used from now on, `to` not among them. Durable before they are;
 * - `{"seq":n,"receipts":[[…],…],"gaps":[{…},…]}`: the first receipt has the number `n`, the next the next;
 * - `{"end":n}`: no number from `n` on was used.
 */
type Line =
  | { readonly reserved: readonly [from: number, to: number] }
  | { readonly seq: number; readonly receipts: readonly ReceiptValues[]; readonly gaps: readonly Gap[] }
  | { readonly end: number };

export const reservedLine = (from: number, to: number): string => line({ reserved: [from, to] });
export const endLine = (next: number): string => line({ end: next });

/** One line: of what is refused as a whole, no part may be read. */
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

export interface ReadSegment extends JournalEntry {
  /** Numbers that were reserved, and may have been used, but that no receipt has. */
  readonly missing: number;
}

/** What a segment, or whole lines of it, holds. Lines that are torn, or not what was written, are left out. */
export function readSegment(text: string): ReadSegment {
  const receipts = new Map<number, Receipt>();
  const gaps: Gap[] = [];
  let from: number | null = null;
  let to = 0;
  // Behind the last line break is nothing, or what was not written to its end.
  for (const content of text.split("\n").slice(0, -1).map(parseLine)) {
    if (content === null) continue;
    if ("reserved" in content) {
      from ??= content.reserved[0];
      to = content.reserved[1];
    } else if ("receipts" in content) {
      content.receipts.forEach((values, i) => {
        receipts.set(content.seq + i, receiptOf(values));
      });
      gaps.push(...content.gaps);
    } else if ("end" in content) to = content.end;
  }
  const missing = Math.max(0, to - (from ?? to) - receipts.size);
  return { receipts: [...receipts.values()], gaps, missing };
}

function parseLine(text: string): Line | null {
  const content = text.slice(9);
  return text[8] === " " && text.slice(0, 8) === checksum(content) ? (JSON.parse(content) as Line) : null;
}

/** Of another length, what was stored of a segment before a crash would be stored again by the next release. */
const pieceCharacters = 32_768;

/**
 * Whole lines of a segment, some at a time: what lives while it is stored is not collected cheaply. Always the same ones, as
 * a piece is what is stored once.
 */
export function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from + pieceCharacters) + 1 || text.length;
    yield text.slice(from, end);
    from = end;
  }
}
