import type { Change, Clients } from "./changes.js";

/** The rows of a table that are in a list, by its `where`, `filter` and `select` as `docs/sync.md` has them. */
export interface Terms {
  readonly where?: Readonly<Record<string, unknown>>;
  readonly filter?: object;
  readonly select?: readonly string[];
}

/** The rows of a live list with what the server has not told of them yet. `clients`: what is in them already. */
export type Overlay = (
  table: string,
  terms: Terms,
  rows: readonly Change[],
  clients: Clients,
) => readonly Change[];

/** What is shown over the rows of a client's live lists, as by its outboxes. */
export class Overlays {
  readonly #overlays = new Set<Overlay>();
  readonly #listeners = new Set<() => void>();

  over: Overlay = (table, terms, rows, clients) =>
    [...this.#overlays].reduce((found, overlay) => overlay(table, terms, found, clients), rows);

  /** Shows what the overlay makes of rows, until the function that is returned is called. */
  add(overlay: Overlay): () => void {
    this.#overlays.add(overlay);
    return () => {
      this.#overlays.delete(overlay);
      this.changed();
    };
  }

  /** Is to be called when an overlay makes something else of the same rows. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
