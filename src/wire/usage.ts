import { count, list, nullOr, object, type Static, text, type WireSchema } from "./schema.js";

/** The schema of what the requests of a day, of a table or of a caller have cost together. */
export const summedUsage = object({
  key: nullOr(text) as WireSchema<string>,
  requests: count,
  rows_read: count,
  rows_written: count,
  rows_returned: count,
  unknown_reads: count,
});
/** What the requests of the day, table or caller named by `key` have cost together. */
export type SummedUsage = Static<typeof summedUsage>;

const gap = object({ at: text, reason: text, attempts_max: nullOr(count) });
/** A time for which receipts are missing, so that the sums are too low. */
export type UsageGap = Static<typeof gap>;

/** The schema of the `meta` of sums of usage. */
export const usageMeta = object({ gaps: list(gap) });
/** The `meta` of sums of usage: which receipts are missing. */
export type UsageMeta = Static<typeof usageMeta>;
