/**
 * What one metered request cost (`docs/reference/metering.md#receipts`). A count that is null is unknown, never zero.
 */
export interface Receipt {
  /** A UUIDv7. */
  readonly attemptId: string;
  /** When the request was answered, in milliseconds since the epoch. */
  readonly atMs: number;
  /**
   * `admin` is a user with the role `admin` whose request the rules of tables do not bind (under `/admin/api/data`).
   */
  readonly principalKind: "anonymous" | "user" | "key" | "admin";
  readonly principalId: string | null;
  readonly method: string;
  /** Several names are separated by commas. For an operation it is `ops/` and its name, which no table can have. */
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
   * Only if the receipt is the sum of the receipts of alike requests within a minute
   * (`docs/reference/metering.md#sums`). The counts are then sums of what is known, `atMs` is the beginning of the
   * minute and `attemptId` that of the first request.
   */
  readonly sum?: ReceiptSum;
}

/** What a sum of several requests has in addition. */
export interface ReceiptSum {
  readonly requests: number;
  /** For how many of the requests `rowsRead` is unknown. */
  readonly unknownReads: number;
}

/** A receipt as it is written to files, to the database and to an export. */
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

/** `receiptOf` turns the values back. */
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

/** Turns back what `receiptValues` has made. */
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

/** A receipt that is no sum stands for one request. */
export function sumOf({ sum, rowsRead }: Receipt): ReceiptSum {
  return sum ?? { requests: 1, unknownReads: rowsRead === null ? 1 : 0 };
}

/**
 * The note that receipts are missing, or may be (`docs/reference/metering.md#receipts`). What they counted is not
 * estimated.
 */
export interface Gap {
  /** Unique among all gaps, so that a gap which is stored twice is kept once. */
  readonly id: string;
  /** When the gap was found, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly reason: "crash" | "overflow";
  /** How many receipts are missing at most; null if that is unknown. */
  readonly attemptsMax: number | null;
}

/** Receipts and gaps that are written together. */
export interface JournalEntry {
  readonly receipts: readonly Receipt[];
  readonly gaps: readonly Gap[];
}

/** Receipts are written here before the answers to their requests are sent. */
export interface Journal {
  /**
   * Resolves once the entry survives the death of the process, and rejects if it may not. A rejected entry may be
   * appended again, together with others or alone, because readers of the journal keep only one receipt per attempt.
   */
  append(entry: JournalEntry): Promise<void>;

  /**
   * Adds the receipt to a sum, if `maySum` holds for it and the journal has become so large that it sums such receipts.
   * Settles as `append` does. Null if the receipt is not summed, and has to be appended.
   */
  sum?(receipt: Receipt): Promise<void> | null;

  /**
   * Moves the receipts into the database, from where they can be exported. Does nothing for a journal that is in the
   * database already.
   */
  collect(): Promise<void>;

  /** Closes the journal in good order, so that the next start finds no receipts missing. */
  close(): Promise<void>;
}
