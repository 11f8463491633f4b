/** What one table request cost (`docs/reference/metering.md#receipts`). Null is unknown, never zero. */
export interface Receipt {
  /** The id of the metered request (attempt), a UUIDv7. */
  readonly attemptId: string;
  /** When the request was answered, in milliseconds since the epoch. */
  readonly atMs: number;
  /** `admin` is a user who worked with rows past the rules. */
  readonly principalKind: "anonymous" | "user" | "key" | "admin";
  readonly principalId: string | null;
  /** The HTTP method of the request. */
  readonly method: string;
  /**
   * The name of the table that the request was about, several separated by commas; of an operation `ops/` and its name,
   * which no table has.
   */
  readonly table: string;
  readonly action:
    | "list"
    | "get"
    | "create"
    | "update"
    | "delete"
    | "history"
    | "state"
    | "restore"
    | "sync"
    | "batch"
    | "push"
    | "operation";
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
  readonly rowsReturned: number | null;
  /**
   * Only there where the receipt is not that of one request, but the sum of alike receipts within a minute
   * (`docs/reference/metering.md#sums`). The counts are then sums of what is known, `atMs` is the beginning of the
   * minute and `attemptId` that of the first request.
   */
  readonly sum?: ReceiptSum;
}

/** What a receipt that is a sum of several says beside its counts. */
export interface ReceiptSum {
  readonly requests: number;
  /** Of how many of the summed requests `rowsRead` is unknown. */
  readonly unknownReads: number;
}

/** A receipt as a list of values, in the order in which it is written to files, to the database and to an export. */
export type ReceiptValues = readonly [
  attemptId: Receipt["attemptId"],
  atMs: Receipt["atMs"],
  principalKind: Receipt["principalKind"],
  principalId: Receipt["principalId"],
  method: Receipt["method"],
  table: Receipt["table"],
  action: Receipt["action"],
  status: Receipt["status"],
  rowsRead: Receipt["rowsRead"],
  rowsWritten: Receipt["rowsWritten"],
  rowsReturned: Receipt["rowsReturned"],
  sum?: readonly [requests: ReceiptSum["requests"], unknownReads: ReceiptSum["unknownReads"]],
];

/** The list form of a receipt; `receiptOf` turns it back. */
export function receiptValues(receipt: Receipt): ReceiptValues {
  const { sum } = receipt;
  const values = valuesBeforeSum(receipt);
  return sum === undefined ? values : [...values, [sum.requests, sum.unknownReads]];
}

function valuesBeforeSum(receipt: Receipt) {
  return [
    receipt.attemptId,
    receipt.atMs,
    receipt.principalKind,
    receipt.principalId,
    receipt.method,
    receipt.table,
    receipt.action,
    receipt.status,
    receipt.rowsRead,
    receipt.rowsWritten,
    receipt.rowsReturned,
  ] as const;
}

/** The receipt that `receiptValues` made a list of. */
export function receiptOf(values: ReceiptValues): Receipt {
  const sum = values[11];
  return {
    attemptId: values[0],
    atMs: values[1],
    principalKind: values[2],
    principalId: values[3],
    method: values[4],
    table: values[5],
    action: values[6],
    status: values[7],
    rowsRead: values[8],
    rowsWritten: values[9],
    rowsReturned: values[10],
    ...(sum !== undefined && { sum: { requests: sum[0], unknownReads: sum[1] } }),
  };
}

/** How many requests a receipt stands for, and of how many `rowsRead` is unknown. */
export function sumOf({ sum, rowsRead }: Receipt): ReceiptSum {
  return sum ?? { requests: 1, unknownReads: rowsRead === null ? 1 : 0 };
}

/**
 * A gap: the note that a number of receipts are missing, or may be (`docs/reference/metering.md#receipts`). What was in
 * them is not estimated.
 */
export interface Gap {
  /** Unique among all gaps, so that a gap which is stored twice is kept once. */
  readonly id: string;
  /** When the gap was found, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly reason: "crash" | "overflow";
  /** How many receipts are missing at most. */
  readonly attemptsMax: number;
}

/** Receipts and gaps that are written together. */
export interface JournalEntry {
  readonly receipts: readonly Receipt[];
  readonly gaps: readonly Gap[];
}

/** Where receipts are written before the answers to their requests are sent. */
export interface Journal {
  /**
   * Writes an entry. Resolves once the entry survives the death of the process, and rejects where it may not. A
   * rejected entry may be appended again, together with others or alone, because readers of the journal keep only one
   * receipt per attempt.
   */
  append(entry: JournalEntry): Promise<void>;

  /**
   * Adds the receipt to a sum of receipts that are alike, if `maySum` holds for it and the journal has reached the size
   * from which it sums such receipts. The sum is written within a second. False where the receipt has to be appended.
   */
  sum?(receipt: Receipt): boolean;

  /**
   * Moves the receipts that the journal holds into the database, from where they can be exported. Does nothing for a
   * journal that is in the database already.
   */
  collect(): Promise<void>;

  /** Closes the journal so that the next start finds no gap. */
  close(): Promise<void>;
}
