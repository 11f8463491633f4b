import type { Journal, Receipt } from "../platform/journal.js";
import type { Platform } from "../platform/platform.js";
import type { Recorder } from "./recorder.js";
import { Tally } from "./tally.js";
import { uuidV7 } from "./uuid.js";

/** What a receipt says of who did what, once that is known. */
export type Subject = Pick<Receipt, "principalKind" | "principalId" | "table" | "action">;

/**
 * The metering part of a response's `meta` as JSON text: members without the braces around them, or nothing where the project
 * has opted out (docs/reference/metering.md).
 */
export type MeteringMembers = string;

/** One CRUD request, from its begin to its receipt. */
export interface Attempt {
  /** Begins anew: nothing that was counted before is of this attempt. */
  begin(subject: Subject): Tally;
  /** Of a success that is about to be answered: its receipt is durable, or the answer says that it is not. */
  succeed(status: number, rowsReturned: number): Promise<MeteringMembers>;
  /** Of an answer that is an error: its work is metered all the same. At once where nothing is left to be done. */
  end(status: number): Promise<unknown> | undefined;
}

export type Meter = (method: string) => Attempt;

const unmetered: Attempt = {
  begin: () => new Tally(),
  succeed: async () => "",
  end: () => undefined,
};

export interface MeterServices extends Pick<Platform, "clock" | "random"> {
  readonly recorder: Recorder;
  readonly counted: (receipt: Receipt) => void;
}

/** `services` are null where the project has opted out. */
export function createMeter(services: MeterServices | null): Meter {
  if (services === null) return () => unmetered;
  const { clock, random, recorder, counted } = services;
  return (method) => {
    let subject: Subject | null = null;
    let tally = new Tally();
    let settled = false;
    const settle = (status: number, rowsReturned: number): Receipt => {
      settled = true;
      const atMs = clock.now();
      const { rowsRead, rowsWritten } = tally;
      const { principalKind, principalId, table, action } = subject!;
      const receipt: Receipt = {
        attemptId: uuidV7(atMs, random.bytes(10)),
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
        settled || subject === null || !tally.touched ? undefined : recorder.record(settle(status, 0)),
    };
  };
}

/** For projects that have opted out. */
export const noJournal: Journal = {
  append: async () => {},
  collect: async () => {},
  close: async () => {},
};
