/** What one CRUD attempt cost (interface, section 8). Null is unknown, never zero. */
export interface Receipt {
  /** A UUIDv7. */
  readonly attemptId: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly principalKind: "anonymous" | "user" | "key";
  readonly principalId: string | null;
  /** Of HTTP. */
  readonly method: string;
  readonly table: string;
  readonly action: "list" | "get" | "create" | "update" | "delete";
  /** Of HTTP. */
  readonly status: number;
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
  readonly rowsReturned: number | null;
}

/** The order in which a receipt is written as a list of values: in files, in the database, in an export. */
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
];

export function receiptValues(receipt: Receipt): ReceiptValues {
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
  ];
}

export function receiptOf(values: ReceiptValues): Receipt {
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
  };
}

/** Attempts whose receipts are missing, or may be. Nothing is known of them, and nothing is estimated. */
export interface Gap {
  /** Distinguishes it from every other one, so that it is kept once. */
  readonly id: string;
  /** When it was found, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly reason: "crash" | "overflow";
  /** How many receipts are missing at most. */
  readonly attemptsMax: number;
}

export interface JournalEntry {
  readonly receipts: readonly Receipt[];
  readonly gaps: readonly Gap[];
}

/** Where receipts are durable before their answers leave. */
export interface Journal {
  /**
   * Resolves once the entry survives the death of the process, and rejects where it may not. What was rejected may be appended
   * again, with others or alone: whoever reads the journal finds each attempt once.
   */
  append(entry: JournalEntry): Promise<void>;

  /** Moves what is in the journal to where it is exported from, as far as it is not there. */
  collect(): Promise<void>;

  /** Ends it without a gap. */
  close(): Promise<void>;
}
