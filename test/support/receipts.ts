import type { Receipt } from "../../src/platform/journal.js";

/** Of a list of notes by Ada, if nothing more is said. */
export const receipt = (attemptId: string, more: Partial<Receipt> = {}): Receipt => ({
  attemptId,
  atMs: 1,
  principalKind: "user",
  principalId: "ada",
  method: "GET",
  table: "notes",
  action: "list",
  status: 200,
  rowsRead: null,
  rowsWritten: 0,
  rowsReturned: 2,
  ...more,
});

/** What a journal is given. */
export const entry = (...ids: string[]) => ({ receipts: ids.map((id) => receipt(id)), gaps: [] });

/** The receipts that are stored, a row for each. */
export const receiptRows = `(SELECT
  value ->> 0 AS attempt_id,
  value ->> 1 AS at,
  value ->> 2 AS principal_kind,
  value ->> 3 AS principal_id,
  value ->> 4 AS method,
  value ->> 5 AS table_name,
  value ->> 6 AS action,
  value ->> 7 AS status,
  value ->> 8 AS rows_read,
  value ->> 9 AS rows_written,
  value ->> 10 AS rows_returned
FROM _usage_entries, json_each(receipts))`;
