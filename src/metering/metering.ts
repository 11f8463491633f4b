import type { Platform } from "../platform/platform.js";
import { uuidV7 } from "./uuid.js";

/** Row usage of one request (specification, section 2). Null is unknown, never zero. */
export interface Usage {
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
  readonly rowsReturned: number | null;
}

/** The metering part of a response's `meta`; empty where the project has opted out (specification, section 8). */
export type Meter = (usage: Usage) => Readonly<Record<string, unknown>>;

export function createMeter(
  usage: { readonly enabled: boolean; readonly row_metering_enabled: boolean },
  { clock, random }: Pick<Platform, "clock" | "random">,
): Meter {
  if (!usage.enabled || !usage.row_metering_enabled) return () => ({});
  return ({ rowsRead, rowsWritten, rowsReturned }) => ({
    rows_read: rowsRead,
    rows_written: rowsWritten,
    rows_returned: rowsReturned,
    // No journal keeps receipts yet, and `unrecorded` says so.
    metering: { version: 1, attempt_id: uuidV7(clock.now(), random.bytes(10)), status: "unrecorded" },
  });
}
