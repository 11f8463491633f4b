import type { PushedOperation } from "../operations.js";

/** A mutation that waits to be sent, or for the server's answer. */
export interface Queued {
  /** The mutation's name, which no other one in the outbox has. */
  readonly name: string;
  /**
   * The mutation's number for the server; null before it is sent for the first time. Mutations with numbers come first
   * in the queue.
   */
  readonly id: number | null;
  readonly operations: readonly PushedOperation[];
}

/** What an outbox keeps of one user's mutations that are not done yet. */
export interface Kept {
  /** The name of the client for the server, which counts mutations for each name. */
  readonly client: string;
  /** The last number that was given to a mutation. */
  readonly lastId: number;
  readonly queue: readonly Queued[];
}

/** What an outbox keeps of a user who has sent nothing yet. */
export function nothingKept(client: string): Kept {
  return { client, lastId: 0, queue: [] };
}

/** What the outbox keeps, with further mutations at the end of its queue. */
export function withQueued(kept: Kept, ...queued: readonly Queued[]): Kept {
  return { ...kept, queue: [...kept.queue, ...queued] };
}

/**
 * Whether an entry of the queue is this mutation under the number that it had: another tab may have replaced it
 * meanwhile.
 */
const isStill =
  ({ name, id }: Queued) =>
  (each: Queued) =>
    each.name === name && each.id === id;

/** What the outbox keeps, without a mutation that is done or given up. */
export function withoutQueued(kept: Kept, queued: Queued): Kept {
  const isGone = isStill(queued);
  return { ...kept, queue: kept.queue.filter((each) => !isGone(each)) };
}

/**
 * What the outbox keeps, where a mutation gets other operations, and for that another number later on. It then comes
 * after those that have numbers, as they may have been done already.
 */
export function replaced(kept: Kept, queued: Queued, operations: Queued["operations"]): Kept {
  if (!kept.queue.some(isStill(queued))) return kept;
  const { queue } = withoutQueued(kept, queued);
  const at = queue.filter(({ id }) => id !== null).length;
  return { ...kept, queue: queue.toSpliced(at, 0, { name: queued.name, id: null, operations }) };
}

/** How many operations one push takes at most on every target (`docs/sync.md#push`). */
const operationsMax = 200;

/**
 * Gives numbers to the first mutations of the queue, at most `max` of them, which are to be sent now. The numbers of
 * one push have to follow on one another.
 */
export function numbered(
  kept: Kept,
  max: number,
): { readonly kept: Kept; readonly sent: readonly (Queued & { readonly id: number })[] } {
  let { lastId } = kept;
  let operations = 0;
  const sent: (Queued & { readonly id: number })[] = [];
  for (const queued of kept.queue.slice(0, max)) {
    const id = queued.id ?? lastId + 1;
    const before = sent.at(-1);
    operations += queued.operations.length;
    if (before !== undefined && (operations > operationsMax || id !== before.id + 1)) break;
    lastId = Math.max(lastId, id);
    sent.push({ ...queued, id });
  }
  return { kept: { ...kept, lastId, queue: [...sent, ...kept.queue.slice(sent.length)] }, sent };
}

/**
 * The same mutations under another name of the client, for which the server counts from 1. Nothing changes where
 * another tab has changed the name already.
 */
export function renamed(kept: Kept, from: string, client: string): Kept {
  if (kept.client !== from) return kept;
  const { queue } = kept;
  return { client, lastId: 0, queue: queue.map((each) => ({ ...each, id: null })) };
}
