import type { PushedOperation } from "../operations.js";

/** A mutation that waits in an outbox to be sent, or for the server's answer. */
export interface Queued {
  /** Given by the outbox, and unique in it. */
  readonly name: string;
  /** The number by which the server knows the mutation; null before it is first sent. Numbered mutations come first. */
  readonly id: number | null;
  readonly operations: readonly PushedOperation[];
}

/** A mutation that can be sent. */
export interface Numbered extends Queued {
  readonly id: number;
}

/** What an outbox stores of one user: the mutations that are not done yet, and how they are numbered. */
export interface Kept {
  /** The name under which the mutations are pushed. The server counts them separately for each such name. */
  readonly client: string;
  /** The highest number given to a mutation under this name; 0 if none was. */
  readonly lastId: number;
  readonly queue: readonly Queued[];
}

/** What an outbox stores for a user who has sent nothing yet. */
export function nothingKept(client: string): Kept {
  return { client, lastId: 0, queue: [] };
}

/** Adds mutations at the end of the queue. */
export function withQueued(kept: Kept, ...queued: readonly Queued[]): Kept {
  return { ...kept, queue: [...kept.queue, ...queued] };
}

/** Whether an entry of the queue is still this mutation with this number: another tab may have replaced it. */
const isStill =
  ({ name, id }: Queued) =>
  (each: Queued) =>
    each.name === name && each.id === id;

/** Removes a mutation that is done or given up. */
export function withoutQueued(kept: Kept, queued: Queued): Kept {
  const isGone = isStill(queued);
  return { ...kept, queue: kept.queue.filter((each) => !isGone(each)) };
}

/**
 * Gives a mutation other operations. It loses its number, which the server has recorded as refused, and gets another
 * one when it is sent. It comes after the mutations that have numbers, because the server may have done those already.
 */
export function replaced(kept: Kept, queued: Queued, operations: Queued["operations"]): Kept {
  if (!kept.queue.some(isStill(queued))) return kept;
  const { queue } = withoutQueued(kept, queued);
  const at = queue.filter(({ id }) => id !== null).length;
  return { ...kept, queue: queue.toSpliced(at, 0, { name: queued.name, id: null, operations }) };
}

/** How many operations one push takes at most, on Node and as a Worker (`docs/sync.md#push`). */
const operationsMax = 200;

/**
 * Chooses the mutations of the next push, and numbers those that have no number. They come from the front of the queue:
 * at most `max`, with at most 200 operations together (the first is sent however many it has), and only as far as their
 * numbers are consecutive.
 */
export function numbered(kept: Kept, max: number): { readonly kept: Kept; readonly sent: readonly Numbered[] } {
  let { lastId } = kept;
  let operations = 0;
  const sent: Numbered[] = [];
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
 * Removes all numbers for pushes under another client name, for which the server counts from 1. Nothing changes if
 * another tab has changed the name already.
 */
export function renamed(kept: Kept, from: string, client: string): Kept {
  if (kept.client !== from) return kept;
  const { queue } = kept;
  return { client, lastId: 0, queue: queue.map((each) => ({ ...each, id: null })) };
}
