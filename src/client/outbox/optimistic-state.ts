import type { Change } from "../live/changes.js";
import type { Overlay } from "../live/overlays.js";
import type { MutationResult } from "../operations.js";
import type { Queued } from "./kept.js";
import { type UnconfirmedMutation, withUnconfirmed } from "./optimistic.js";

/** What an outbox shows over live lists: mutations that the server has not done, or may not have told of yet. */
export class OptimisticState {
  #done: readonly (UnconfirmedMutation & { readonly client: string; readonly id: number })[] = [];
  /**
   * Counts pushes and answers. It orders them and the rows that live lists are told, which have the count of the moment
   * when they were first seen.
   */
  #count = 0;
  /** The mutations that are on their way to the server, and the count at which they were sent. */
  #sent: { readonly names: ReadonlySet<string>; readonly at: number } = { names: new Set(), at: 0 };
  readonly #seen = new WeakMap<Change, number>();

  /** Applies mutations over the rows of a live list: those that are done, and `pending`, which `client` pushes. */
  over(
    pending: readonly Queued[],
    client: string,
    [table, terms, rows, clients]: Parameters<Overlay>,
  ): readonly Change[] {
    const isConfirmed = (by: string, id: number | null) => id !== null && id <= (clients[by] ?? 0);
    const done = this.#done.filter((each) => !isConfirmed(each.client, each.id));
    for (const row of rows) if (!this.#seen.has(row)) this.#seen.set(row, this.#count);
    const { names, at } = this.#sent;
    const waiting = pending
      .filter(({ id }) => !isConfirmed(client, id))
      .map(({ name, operations }) => ({ operations, sentAt: names.has(name) ? at : null, answer: null }));
    return withUnconfirmed(table, terms, rows, [...done, ...waiting], (row) => this.#seen.get(row)!);
  }

  /** Forgets the mutations that are done: they are another user's. */
  clear(): void {
    this.#done = [];
  }

  /** Notes that these mutations, and no others, are on their way to the server. */
  sending(sent: readonly Queued[]): void {
    this.#sent = { names: new Set(sent.map(({ name }) => name)), at: ++this.#count };
  }

  /** Shows what a mutation has done until the server tells the lists of it or the returned function is called. */
  keep(operations: Queued["operations"], client: string, { id, rows = [] }: MutationResult): () => void {
    const done = { client, id, operations, sentAt: null, answer: { rows, at: ++this.#count } };
    this.#done = [...this.#done, done];
    return () => {
      this.#done = this.#done.filter((each) => each !== done);
    };
  }
}
