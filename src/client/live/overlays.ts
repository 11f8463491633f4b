import type { Change, Clients } from "./changes.js";

/** Which rows and columns of a table a list has. `where`, `filter` and `select` are those of `docs/sync.md`. */
export interface Terms {
  readonly where?: Readonly<Record<string, unknown>>;
  readonly filter?: object;
  readonly select?: readonly string[];
}

/** Applies to rows of a live list what the server has not told yet. `clients` says which mutations they contain. */
export type Overlay = (table: string, terms: Terms, rows: readonly Change[], clients: Clients) => readonly Change[];

/** What a client shows over the rows of its live lists, such as what an outbox has not sent yet. */
export class Overlays {
  readonly #overlays = new Set<Overlay>();
  readonly #listeners = new Set<() => void>();

  over: Overlay = (table, terms, rows, clients) =>
    [...this.#overlays].reduce((found, overlay) => overlay(table, terms, found, clients), rows);

  /** Returns a function that removes the overlay. */
  add(overlay: Overlay): () => void {
    this.#overlays.add(overlay);
    return () => {
      this.#overlays.delete(overlay);
      this.changed();
    };
  }

  /** To be called when an overlay would return something else for the same rows: live lists are then made anew. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
