import type { Change, Clients } from "./changes.js";

/**
 * Which rows of a table a list has, and which of their columns. `where`, `filter` and `select` are those of
 * `docs/sync.md`.
 */
export interface Terms {
  readonly where?: Readonly<Record<string, unknown>>;
  readonly filter?: object;
  readonly select?: readonly string[];
}

/**
 * A function that changes what live lists show: it takes the rows of a list, and returns them with what the server has
 * not told of yet. `clients` says, for each client that pushes mutations, which is its last mutation that is part of
 * the rows already.
 */
export type Overlay = (
  table: string,
  terms: Terms,
  rows: readonly Change[],
  clients: Clients,
) => readonly Change[];

/**
 * The overlays of a client. Each puts something over the rows of the client's live lists, such as what an outbox has
 * not sent yet.
 */
export class Overlays {
  readonly #overlays = new Set<Overlay>();
  readonly #listeners = new Set<() => void>();

  over: Overlay = (table, terms, rows, clients) =>
    [...this.#overlays].reduce((found, overlay) => overlay(table, terms, found, clients), rows);

  /** Adds an overlay to all live lists of the client. Returns a function that removes it. */
  add(overlay: Overlay): () => void {
    this.#overlays.add(overlay);
    return () => {
      this.#overlays.delete(overlay);
      this.changed();
    };
  }

  /**
   * To be called when an overlay would now return something else for the same rows. The live lists are then made anew.
   */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
