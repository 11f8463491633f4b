import type { Change, Clients } from "./changes.js";

/**
 * Which rows of a table a list has, and which of their columns: `where`, `filter` and `select` as in `docs/sync.md`.
 */
export interface Terms {
  readonly where?: Readonly<Record<string, unknown>>;
  readonly filter?: object;
  readonly select?: readonly string[];
}

/**
 * Makes, of the rows of a live list, those rows with what the server has not told of yet. `clients` has the last
 * mutation of each client that is in the rows already.
 */
export type Overlay = (
  table: string,
  terms: Terms,
  rows: readonly Change[],
  clients: Clients,
) => readonly Change[];

/**
 * The overlays of a client: what is shown over the rows of its live lists, such as what its outboxes have not sent yet.
 */
export class Overlays {
  readonly #overlays = new Set<Overlay>();
  readonly #listeners = new Set<() => void>();

  over: Overlay = (table, terms, rows, clients) =>
    [...this.#overlays].reduce((found, overlay) => overlay(table, terms, found, clients), rows);

  /** Adds an overlay to all live lists of the client, until the function that is returned is called. */
  add(overlay: Overlay): () => void {
    this.#overlays.add(overlay);
    return () => {
      this.#overlays.delete(overlay);
      this.changed();
    };
  }

  /** To be called when an overlay makes something else than before of the same rows. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
