import type { Journal, Receipt } from "../platform/journal.js";
import type { Platform } from "../platform/platform.js";
import type { Recorder } from "./recorder.js";
import { Tally } from "./tally.js";
import { uuidV7 } from "./uuid.js";

/** Who called and what they did. It is known once the caller has been authenticated. */
export type Subject = Pick<Receipt, "principalKind" | "principalId" | "table" | "action">;

/**
 * What metering adds to the `meta` object of an answer, as JSON text without the braces. Empty if the project does not
 * meter requests.
 */
export type MeteringMembers = string;

/** The metering of one request to a table, which leaves at most one receipt. */
export interface Attempt {
  /**
   * Starts to count the rows of the request from zero. If a request is carried out a second time, this is called again
   * and drops what was counted before.
   */
  begin(subject: Subject): Tally;
  /**
   * Records the receipt of a request that has succeeded, before its answer is sent. Resolves to the counts of rows and
   * what has become of the receipt (`RecordOutcome`). Does not reject. The answer to a HEAD has no body, so it returns no
   * rows.
   */
  succeed(status: number, rowsReturned: number): Promise<MeteringMembers>;
  /**
   * Records the receipt of a request that is answered with an error, if a statement was sent to the table. Returns
   * undefined if nothing is left to record, for example after `succeed`, so that the answer does not have to wait.
   */
  end(status: number): Promise<unknown> | undefined;
  /** Null as long as no receipt has been made. */
  receipt(): Receipt | null;
  /** The id that the receipt has or will have; null if requests are not metered. */
  id(): string | null;
}

/** Meters one request, given its HTTP method. */
export type Meter = (method: string) => Attempt;

const unmetered: Attempt = {
  begin: () => new Tally(),
  succeed: async () => "",
  end: () => undefined,
  receipt: () => null,
  id: () => null,
};

/** What metering needs. `counted` is called with each receipt before it is recorded. */
export interface MeterServices extends Pick<Platform, "clock" | "random"> {
  readonly recorder: Recorder;
  readonly counted: (receipt: Receipt) => void;
}

/** `services` is null if the project does not meter requests (`docs/reference/metering.md`). */
export function createMeter(services: MeterServices | null): Meter {
  if (services === null) return () => unmetered;
  const { clock, random, recorder, counted } = services;
  return (method) => {
    let subject: Subject | null = null;
    let tally = new Tally();
    let settled: Receipt | null = null;
    let attemptId: string | null = null;
    const id = () => {
      attemptId ??= uuidV7(clock.now(), random.bytes(10));
      return attemptId;
    };
    const settle = (status: number, rowsReturned: number): Receipt => {
      const atMs = clock.now();
      const { rowsRead, rowsWritten } = tally;
      const { principalKind, principalId, table, action } = subject!;
      const receipt: Receipt = {
        attemptId: id(),
        atMs,
        principalKind,
        principalId,
        method,
        table,
        action,
        status,
        rowsRead,
        rowsWritten,
        rowsReturned,
      };
      settled = receipt;
      counted(receipt);
      return receipt;
    };
    return {
      begin: (of) => {
        subject = of;
        tally = new Tally();
        return tally;
      },
      succeed: async (status, returned) => {
        const receipt = settle(status, method === "HEAD" ? 0 : returned);
        const { status: recorded, isSummed } = await recorder.record(receipt);
        const { attemptId, rowsRead, rowsWritten, rowsReturned } = receipt;
        const rows = `"rows_read":${rowsRead},"rows_written":${rowsWritten},"rows_returned":${rowsReturned}`;
        return `${rows},"metering":{"version":1,"attempt_id":"${attemptId}","status":"${recorded}"${isSummed ? ',"summed":true' : ""}}`;
      },
      end: (status) =>
        settled !== null || subject === null || !tally.touched ? undefined : recorder.record(settle(status, 0)),
      receipt: () => settled,
      id,
    };
  };
}

/** The journal of projects that do not meter requests. */
export const noJournal: Journal = {
  append: async () => {},
  collect: async () => {},
  close: async () => {},
};
