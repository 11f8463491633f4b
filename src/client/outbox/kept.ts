import type { Mutation, PushedOperation } from "../operations.js";

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

export function withQueued(kept: Kept, ...queued: readonly Queued[]): Kept {
  return { ...kept, queue: [...kept.queue, ...queued] };
}

export function withoutQueued(kept: Kept, name: string): Kept {
  return { ...kept, queue: kept.queue.filter((each) => each.name !== name) };
}

/**
 * The mutation gets other operations, and for that a number of its own later on. It comes after those that have numbers, as
 * they may have been done already.
 */
export function replaced(kept: Kept, name: string, operations: Queued["operations"]): Kept {
  const others = kept.queue.filter((each) => each.name !== name);
  const at = others.filter(({ id }) => id !== null).length;
  return { ...kept, queue: others.toSpliced(at, 0, { name, id: null, operations }) };
}

/** How much one push takes: the server's bounds, on every target (`docs/sync.md#push`). */
const operationsMax = 200;

/** Gives numbers to the first mutations, at most `max` of them, which are to be sent now. */
export function numbered(
  kept: Kept,
  max: number,
): { readonly kept: Kept; readonly sent: readonly Mutation[] } {
  let { lastId } = kept;
  let operations = 0;
  const sent: Mutation[] = [];
  const queue = kept.queue.map((each) => {
    operations += each.operations.length;
    if (sent.length === max || (sent.length > 0 && operations > operationsMax)) {
      operations = Number.POSITIVE_INFINITY;
      return each;
    }
    const id = each.id ?? ++lastId;
    sent.push({ id, operations: each.operations });
    return { ...each, id };
  });
  return { kept: { ...kept, lastId, queue }, sent };
}

/** The same mutations under another name of the client, which counts from 1. */
export function renamed({ queue }: Kept, client: string): Kept {
  return { client, lastId: 0, queue: queue.map((each) => ({ ...each, id: null })) };
}

/**
 * Goes on where the server says that it goes on: without what it has already. Where it does not know anymore what it has
 * acknowledged, as after it was restored from a copy, the rest is sent under the name `client`.
 */
export function resynchronised(kept: Kept, expected: number, client: string): Kept {
  const queue = kept.queue.filter(({ id }) => id === null || id >= expected);
  const next = queue[0]?.id ?? kept.lastId + 1;
  const rest = { ...kept, queue };
  return next === expected ? rest : renamed(rest, client);
}
