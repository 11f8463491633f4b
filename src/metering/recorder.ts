import { toHex } from "../encoding/hex.js";
import type { Gap, Journal, Receipt } from "../platform/journal.js";
import type { Platform } from "../platform/platform.js";

/** `recorded`: there is durable evidence of the attempt (specification, section 3). */
export type RecordStatus = "recorded" | "unrecorded";

export interface RecorderState {
  /** Receipts that wait for the journal to work again. */
  readonly waiting: number;
  /** Receipts that found no place any more, since the start. */
  readonly lost: number;
  /** Whether the last attempt to write succeeded. */
  readonly available: boolean;
}

export interface Recorder {
  record(receipt: Receipt): Promise<RecordStatus>;
  /** Offers what waits to the journal again. */
  retry(): Promise<void>;
  state(): RecorderState;
}

/** Some 3 MB of memory. */
const waitingMaxDefault = 10_000;
/** So many go into one entry, which has to fit into a statement of D1. */
const entryMax = 500;

/**
 * Brings receipts into the journal. A journal that does not work holds up nobody: the receipt then waits in memory, and
 * what finds no place there becomes a gap that says how many were lost.
 */
export function createRecorder(
  journal: Journal,
  { clock, random, log }: Pick<Platform, "clock" | "random" | "log">,
  waitingMax = waitingMaxDefault,
): Recorder {
  const waiting: Receipt[] = [];
  let lost = 0;
  let lostUnsaid = 0;
  let available = true;

  const succeeded = (): void => {
    available = true;
  };
  const failed = (error: unknown): void => {
    if (available) log.error("receipts cannot be recorded, and wait in memory", error);
    available = false;
  };

  const retry = async (): Promise<void> => {
    while (waiting.length > 0 || lostUnsaid > 0) {
      const receipts = waiting.splice(0, entryMax);
      const attemptsMax = lostUnsaid;
      lostUnsaid = 0;
      const gaps: Gap[] =
        attemptsMax === 0
          ? []
          : [{ id: toHex(random.bytes(16)), atMs: clock.now(), reason: "overflow", attemptsMax }];
      try {
        await journal.append({ receipts, gaps });
        succeeded();
      } catch (error) {
        waiting.unshift(...receipts);
        lostUnsaid += attemptsMax;
        failed(error);
        return;
      }
    }
  };

  return {
    record: async (receipt) => {
      try {
        await journal.append({ receipts: [receipt], gaps: [] });
        succeeded();
        return "recorded";
      } catch (error) {
        failed(error);
        if (waiting.length < waitingMax) waiting.push(receipt);
        else {
          lost++;
          lostUnsaid++;
        }
        return "unrecorded";
      }
    },
    retry,
    state: () => ({ waiting: waiting.length, lost, available }),
  };
}
