import { CallRefusedError, ConstraintError } from "../platform/database.js";

/** What one attempt has cost so far. Null is unknown, and remains so. */
export class Tally {
  #touched = false;
  #rowsRead: number | null = 0;
  #rowsWritten: number | null = 0;

  /** Whether a statement that names customer rows was sent. */
  get touched(): boolean {
    return this.#touched;
  }

  get rowsRead(): number | null {
    return this.#rowsRead;
  }

  get rowsWritten(): number | null {
    return this.#rowsWritten;
  }

  /** What fails says nothing of what it has read, nor, unless a constraint refused it, of what it has written. */
  during<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      const isCounted = !(error instanceof ConstraintError || error instanceof CallRefusedError);
      if (isCounted) this.add(null, null);
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
