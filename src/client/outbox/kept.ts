import type { PushedOperation } from "../operations.js";

/** A mutation that waits to be sent, or for the server's answer. */
export interface Queued {
  /** Names it for as long as it is in the outbox. */
  readonly name: string;
  /** Its number for the server; null before it is sent for the first time. Those with numbers come first. */
  readonly id: number | null;
  readonly operations: readonly PushedOperation[];
}

/** What an outbox keeps of one user's mutations. */
export interface Kept {
  /** The client's name, within which the server counts mutations. */
  readonly client: string;
  /** The last number that was given to a mutation. */
  readonly lastId: number;
  readonly queue: readonly Queued[];
}

/** What is kept of a user who has sent nothing yet. */
export function nothingKept(client: string): Kept {
  return { client, lastId: 0, queue: [] };
}

/** With mutations that come after all others. */
export function withQueued(kept: Kept, ...queued: readonly Queued[]): Kept {
  return { ...kept, queue: [...kept.queue, ...queued] };
}

/** Whether it is this mutation under the number that it had: another tab may have replaced it meanwhile. */
const isStill =
  ({ name, id }: Queued) =>
  (each: Queued) =>
    each.name === name && each.id === id;

/** Without a mutation that is done or given up. */
export function withoutQueued(kept: Kept, queued: Queued): Kept {
  const isGone = isStill(queued);
  return { ...kept, queue: kept.queue.filter((each) => !isGone(each)) };
}

/**
 * The mutation gets other operations, and for that a number of its own later on. It comes after those that have numbers, as
 * they may have been done already.
 */
export function replaced(kept: Kept, queued: Queued, operations: Queued["operations"]): Kept {
  if (!kept.queue.some(isStill(queued))) return kept;
  const { queue } = withoutQueued(kept, queued);
  const at = queue.filter(({ id }) => id !== null).length;
  return { ...kept, queue: queue.toSpliced(at, 0, { name: queued.name, id: null, operations }) };
}

/** How much one push takes: the server's bounds, on every target (`docs/sync.md#push`). */
const operationsMax = 200;

/**
 * Gives numbers to the first mutations, at most `max` of them, which are to be sent now. Their numbers follow on one another,
 * as a push has to have them.
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

/** The same mutations under another name of the client, which counts from 1; unless another tab has changed the name. */
export function renamed(kept: Kept, from: string, client: string): Kept {
  if (kept.client !== from) return kept;
  const { queue } = kept;
  return { client, lastId: 0, queue: queue.map((each) => ({ ...each, id: null })) };
}
