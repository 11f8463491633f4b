import type { Journal, Receipt } from "../platform/journal.js";
import type { Platform } from "../platform/platform.js";
import type { Recorder } from "./recorder.js";
import { Tally } from "./tally.js";
import { uuidV7 } from "./uuid.js";

/**
 * The part of a receipt (the record of what a request cost) that says who called and what they did. It is known once
 * the caller has been authenticated.
 */
export type Subject = Pick<Receipt, "principalKind" | "principalId" | "table" | "action">;

/**
 * The members that metering adds to the `meta` object of an answer, as JSON text without the braces around them. Empty
 * where the project does not meter requests.
 */
export type MeteringMembers = string;

/** The metering of one request to a table. It ends with at most one receipt (a record of what the request cost). */
export interface Attempt {
  /**
   * Starts to count the rows of the request from zero. Where a request is carried out a second time, this is called a
   * second time, and what was counted before is dropped. `subject` says who called and what they did.
   */
  begin(subject: Subject): Tally;
  /**
   * Records the receipt of a request that has succeeded, before its answer is sent. `rowsReturned` is the number of
   * rows in the answer. Resolves to the members for the answer's `meta`: the counts of rows, and what has become of the
   * receipt (`RecordStatus`). Does not reject.
   */
  succeed(status: number, rowsReturned: number): Promise<MeteringMembers>;
  /**
   * Records the receipt of a request that is answered with an error, if a statement was sent to the table. Returns
   * undefined where nothing is left to record, for example after `succeed`, so that the answer does not have to wait.
   */
  end(status: number): Promise<unknown> | undefined;
  /** Returns the receipt of the metered request; null as long as none has been made. */
  receipt(): Receipt | null;
  /** Returns the id that the request's receipt has or will have; null where requests are not metered. */
  id(): string | null;
}

/** Makes the `Attempt` that meters one request, given the request's HTTP method. */
export type Meter = (method: string) => Attempt;

const unmetered: Attempt = {
  begin: () => new Tally(),
  succeed: async () => "",
  end: () => undefined,
  receipt: () => null,
  id: () => null,
};

/**
 * What metering needs from the rest of the server. `counted` is called with each receipt before the receipt is
 * recorded.
 */
export interface MeterServices extends Pick<Platform, "clock" | "random"> {
  readonly recorder: Recorder;
  readonly counted: (receipt: Receipt) => void;
}

/**
 * Makes the `Meter` of the server. `services` is null where the project does not meter requests
 * (`docs/reference/metering.md`); then nothing is recorded.
 */
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
      succeed: async (status, rowsReturned) => {
        const receipt = settle(status, rowsReturned);
        const recorded = await recorder.record(receipt);
        const { attemptId, rowsRead, rowsWritten } = receipt;
        const rows = `"rows_read":${rowsRead},"rows_written":${rowsWritten},"rows_returned":${rowsReturned}`;
        return `${rows},"metering":{"version":1,"attempt_id":"${attemptId}","status":"${recorded}"}`;
      },
      end: (status) =>
        settled !== null || subject === null || !tally.touched
          ? undefined
          : recorder.record(settle(status, 0)),
      receipt: () => settled,
      id,
    };
  };
}

/** The journal of projects that do not meter requests. It accepts every receipt and keeps none. */
export const noJournal: Journal = {
  append: async () => {},
  collect: async () => {},
  close: async () => {},
};
