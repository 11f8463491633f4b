import {
  AbortError,
  CallRefusedError,
  ConstraintError,
  DeadlineError,
  QueueFullError,
} from "../platform/database.js";

/** How many rows a metered request has read and written so far. A count that became unknown (null) stays unknown. */
export class Tally {
  #touched = false;
  #rowsRead: number | null = 0;
  #rowsWritten: number | null = 0;

  /**
   * Whether anything was counted, because a statement about rows of one of the owner's tables was sent. Otherwise an
   * answer that is an error leaves no receipt.
   */
  get touched(): boolean {
    return this.#touched;
  }

  get rowsRead(): number | null {
    return this.#rowsRead;
  }

  get rowsWritten(): number | null {
    return this.#rowsWritten;
  }

  /**
   * Waits for statements, and makes the counts unknown where they fail. Four errors leave the counts alone: a broken
   * constraint or a guard that has undone its batch, after which nothing was written (what was read is then counted by
   * `tables/`); a call that `CheckedDatabase` has refused; and a call for which the queue had no room.
   */
  during<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      const isUncounted = [ConstraintError, AbortError, CallRefusedError, QueueFullError].some(
        (kind) => error instanceof kind,
      );
      // Statements that have not ended by their deadline have written nothing.
      if (!isUncounted) this.add(null, error instanceof DeadlineError ? 0 : null);
      throw error;
    });
  }

  add(rowsRead: number | null, rowsWritten: number | null = 0): void {
    this.#touched = true;
    this.#rowsRead = sum(this.#rowsRead, rowsRead);
    this.#rowsWritten = sum(this.#rowsWritten, rowsWritten);
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
