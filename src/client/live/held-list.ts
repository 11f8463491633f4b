import type { SvcError } from "../error.js";
import type { Change } from "./changes.js";

/** The rows of one member, as this page has them. */
export class HeldList {
  /** By key: the change that has brought each row last. */
  readonly #rows = new Map<string, Change>();
  /** How many in this page follow it. */
  followers = 0;
  /** Whether all rows have been told once. */
  isWhole = false;
  /** Why the server does not tell of them; null if it does. */
  error: SvcError | null = null;

  constructor(
    /** What the server is asked for. */
    readonly terms: object,
  ) {}

  get rows(): Iterable<Change> {
    return this.#rows.values();
  }

  apply(change: Change): void {
    const key = JSON.stringify(change.key);
    if (change.op === "remove") this.#rows.delete(key);
    else this.#rows.set(key, change);
  }

  /** All rows are told anew, and come next. */
  begin(): void {
    this.forget();
    this.isWhole = true;
  }

  refuse(error: SvcError): void {
    this.forget();
    this.error = error;
  }

  forget(): void {
    this.#rows.clear();
    this.isWhole = false;
    this.error = null;
  }
}
