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
