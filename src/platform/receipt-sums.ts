import { type Receipt, sumOf } from "./journal.js";

const minuteMs = 60_000;

/**
 * Whether a receipt may be merged into a sum: if the request was anonymous and has written nothing, because strangers
 * can make any number of such requests.
 */
export function maySum({ principalKind, action, rowsWritten }: Receipt): boolean {
  return principalKind === "anonymous" && (action === "list" || action === "get" || rowsWritten === 0);
}

/** One sum for all receipts of the same table, minute, method, action and status. */
export class ReceiptSums {
  readonly #sums = new Map<string, Receipt>();

  /** How many requests the sums were made from. */
  requests = 0;

  /** Adds a receipt for which `maySum` holds, or a sum of such receipts. */
  add(receipt: Receipt): void {
    const { table, method, action, status } = receipt;
    const atMs = receipt.atMs - (receipt.atMs % minuteMs);
    const key = `${atMs} ${method} ${action} ${status} ${table}`;
    const known = this.#sums.get(key);
    this.#sums.set(key, known === undefined ? alone(receipt, atMs) : together(known, receipt));
    this.requests += sumOf(receipt).requests;
  }

  /** In the order in which their first receipts were added. */
  all(): readonly Receipt[] {
    return [...this.#sums.values()];
  }

  clear(): void {
    this.#sums.clear();
    this.requests = 0;
  }
}

/**
 * Merges those receipts that are sums already and have the same table, minute, method, action and status; the others
 * stay as they are. The same receipts always give the same result.
 */
export function withSumsTogether(receipts: readonly Receipt[]): readonly Receipt[] {
  if (receipts.every(({ sum }) => sum === undefined)) return receipts;
  const sums = new ReceiptSums();
  for (const receipt of receipts) if (receipt.sum !== undefined) sums.add(receipt);
  return [...receipts.filter(({ sum }) => sum === undefined), ...sums.all()];
}

function alone(receipt: Receipt, atMs: number): Receipt {
  const { rowsRead, rowsWritten, rowsReturned } = receipt;
  return {
    ...receipt,
    atMs,
    rowsRead: rowsRead ?? 0,
    rowsWritten: rowsWritten ?? 0,
    rowsReturned: rowsReturned ?? 0,
    sum: sumOf(receipt),
  };
}

function together(known: Receipt, added: Receipt): Receipt {
  const [a, b] = [sumOf(known), sumOf(added)];
  return {
    ...known,
    rowsRead: known.rowsRead! + (added.rowsRead ?? 0),
    rowsWritten: known.rowsWritten! + (added.rowsWritten ?? 0),
    rowsReturned: known.rowsReturned! + (added.rowsReturned ?? 0),
    sum: { requests: a.requests + b.requests, unknownReads: a.unknownReads + b.unknownReads },
  };
}
