import { AbortError, CallRefusedError, ConstraintError, DeadlineError, QueueFullError } from "../platform/database.js";

/** How many rows an attempt has read and written so far. A count that became unknown (null) stays unknown. */
export class Tally {
  #touched = false;
  #rowsRead: number | null = 0;
  #rowsWritten: number | null = 0;

  /**
   * Whether a statement about rows of the project's tables was sent. If not, a request that is answered with an error
   * leaves no receipt.
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
   * Passes on the result or error of statements. If they fail, the counts of rows become unknown, except after four
   * errors. After a broken constraint, or after a guard has undone its batch, nothing was written, and the code in
   * `tables/` counts what was read. A call that `CheckedDatabase` has refused, or for which the queue had no room, is
   * not counted.
   */
  during<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      const isUncounted = [ConstraintError, AbortError, CallRefusedError, QueueFullError].some(
        (kind) => error instanceof kind,
      );
      // Statements that have not ended by their deadline have written nothing; only the number of rows read is unknown.
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
