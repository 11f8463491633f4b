import { toHex } from "../encoding/hex.js";
import type { Gap, Journal, JournalEntry, Receipt } from "../platform/journal.js";
import type { Platform } from "../platform/platform.js";

/** `recorded`: there is durable evidence of the attempt. */
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
  /** At the end of the process: what the journal does not take is offered to another one. */
  finish(otherwise: Pick<Journal, "append">): Promise<void>;
  state(): RecorderState;
}

/** Some 3 MB of memory. */
const waitingMaxDefault = 10_000;
/** So many go along at once: on D1 a statement stores each, of which a request may send fifty. */
const entryMax = 30;

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

  /** The next of what waits, and what could not even wait. */
  const takeWaiting = (): JournalEntry => {
    const gaps: Gap[] = [];
    if (lostUnsaid > 0)
      gaps.push({
        id: toHex(random.bytes(16)),
        atMs: clock.now(),
        reason: "overflow",
        attemptsMax: lostUnsaid,
      });
    lostUnsaid = 0;
    return { receipts: waiting.splice(0, entryMax), gaps };
  };
  const putBack = ({ receipts, gaps }: JournalEntry): void => {
    waiting.unshift(...receipts);
    for (const { attemptsMax } of gaps) lostUnsaid += attemptsMax;
  };
  const drainInto = async (target: Pick<Journal, "append">): Promise<void> => {
    while (waiting.length > 0 || lostUnsaid > 0) {
      const entry = takeWaiting();
      try {
        await target.append(entry);
        succeeded();
      } catch (error) {
        putBack(entry);
        failed(error);
        return;
      }
    }
  };

  return {
    record: async (receipt) => {
      // What waits goes along: on a Worker nobody else may come by before the isolate is gone.
      const others = takeWaiting();
      try {
        await journal.append({ receipts: [receipt, ...others.receipts], gaps: others.gaps });
        succeeded();
        return "recorded";
      } catch (error) {
        putBack(others);
        failed(error);
        if (waiting.length < waitingMax) waiting.push(receipt);
        else {
          lost++;
          lostUnsaid++;
        }
        return "unrecorded";
      }
    },
    retry: () => drainInto(journal),
    finish: async (otherwise) => {
      await drainInto(journal);
      await drainInto(otherwise);
      const left = waiting.length + lostUnsaid;
      if (left > 0) log.error("receipts are lost, as neither the journal nor the database takes them", left);
    },
    state: () => ({ waiting: waiting.length, lost, available }),
  };
}
