import type { Gap, Journal, JournalEntry, Receipt } from "../platform/journal.js";
import { newId } from "../platform/new-id.js";
import type { Platform } from "../platform/platform.js";
import { deleteGap, insertGap } from "./store.js";

/** What has become of a receipt (`docs/reference/metering.md#receipts`). */
export interface RecordOutcome {
  /**
   * `recorded`: it is written, and survives the death of the process. `unrecorded`: it waits in memory for the journal to
   * work again, or was dropped.
   */
  readonly status: "recorded" | "unrecorded";
  /** Whether it was added to a sum. */
  readonly isSummed: boolean;
}

/** What `GET /metrics` shows of a recorder. */
export interface RecorderState {
  /** Receipts that wait in memory for the journal to work again. */
  readonly waiting: number;
  /** Receipts dropped since the start because too many were waiting. */
  readonly lost: number;
  /** Whether the last write succeeded; true before the first one. */
  readonly available: boolean;
}

/**
 * Writes receipts to the journal. If that fails, its methods do not reject: the receipts wait in memory, or are dropped
 * if too many wait.
 */
export interface Recorder {
  record(receipt: Receipt): Promise<RecordOutcome>;
  /** Appends the waiting receipts to the journal, if it works again. */
  retry(): Promise<void>;
  /** Called when the server stops: appends the waiting receipts to the journal or, if that fails, to `otherwise`. */
  finish(otherwise: Pick<Journal, "append">): Promise<void>;
  state(): RecorderState;
}

/** About 3 MB in memory. */
const waitingMaxDefault = 10_000;
/**
 * How many waiting receipts are appended at once. The journal of a Worker needs a statement for each, and on D1 a
 * request may send no more than fifty.
 */
const entryMax = 30;
const nothing: JournalEntry = { receipts: [], gaps: [] };

/**
 * While `journal` does not work, requests are answered all the same and their receipts wait in memory. Receipts beyond
 * `waitingMax` are dropped; a gap in the journal later says how many these were. While receipts wait, the database has
 * a gap without a bound, which remains if the process dies.
 */
export function createRecorder(
  journal: Journal,
  { database, clock, random, log }: Pick<Platform, "database" | "clock" | "random" | "log">,
  waitingMax = waitingMaxDefault,
): Recorder {
  const waiting: Receipt[] = [];
  let lost = 0;
  /** Dropped receipts that no gap reports yet. */
  let lostUnsaid = 0;
  let available = true;
  /** The gaps that the database has while receipts wait, by their ids: one, unless deleting an earlier one has failed. */
  const outages: string[] = [];
  let noting: Promise<void> | null = null;

  /** Stores a gap without a bound, unless there is one. If that fails, `retry` tries again. */
  const noteOutage = (): void => {
    if (outages.length > 0 || noting !== null) return;
    const gap: Gap = { id: newId(random), atMs: clock.now(), reason: "crash", attemptsMax: null };
    noting = database.batch([insertGap(gap)]).then(
      () => void outages.push(gap.id),
      () => {},
    );
    void noting.then(() => {
      noting = null;
    });
  };
  /** Deletes that gap once no receipt waits any more. */
  const endOutage = async (): Promise<void> => {
    await noting;
    if (outages.length === 0 || waiting.length > 0 || lostUnsaid > 0) return;
    const ended = outages.splice(0);
    await database.batch(ended.map(deleteGap)).catch(() => outages.push(...ended));
  };

  const succeeded = (): void => {
    available = true;
  };
  const failed = (error: unknown): void => {
    if (!available) return;
    log.error("receipts cannot be recorded, and wait in memory", error);
    available = false;
    noteOutage();
  };

  /** Takes the next waiting receipts, and a gap if receipts were dropped, out of memory. */
  const takeWaiting = (): JournalEntry => {
    const gaps: Gap[] = [];
    if (lostUnsaid > 0)
      gaps.push({
        id: newId(random),
        atMs: clock.now(),
        reason: "overflow",
        attemptsMax: lostUnsaid,
      });
    lostUnsaid = 0;
    return { receipts: waiting.splice(0, entryMax), gaps };
  };
  const putBack = ({ receipts, gaps }: JournalEntry): void => {
    waiting.unshift(...receipts);
    for (const { attemptsMax } of gaps) lostUnsaid += attemptsMax!;
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
      const summing = waiting.length === 0 ? (journal.sum?.(receipt) ?? null) : null;
      // A Worker's isolate may be evicted before a later retry, so waiting receipts go along with the new one.
      const others = summing === null ? takeWaiting() : nothing;
      try {
        await (summing ?? journal.append({ receipts: [receipt, ...others.receipts], gaps: others.gaps }));
        succeeded();
        if (outages.length > 0 || noting !== null) await endOutage();
        return { status: "recorded", isSummed: summing !== null };
      } catch (error) {
        putBack(others);
        failed(error);
        if (waiting.length < waitingMax) waiting.push(receipt);
        else {
          lost++;
          lostUnsaid++;
        }
        await noting;
        return { status: "unrecorded", isSummed: false };
      }
    },
    retry: async () => {
      await drainInto(journal);
      if (waiting.length > 0) noteOutage();
      await endOutage();
    },
    finish: async (otherwise) => {
      await drainInto(journal);
      await drainInto(otherwise);
      await endOutage();
      const left = waiting.length + lostUnsaid;
      if (left > 0) log.error("receipts are lost, as neither the journal nor the database takes them", left);
    },
    state: () => ({ waiting: waiting.length, lost, available }),
  };
}
