import type { SvcError } from "../error.js";
import type { Change } from "./changes.js";

/** The rows of one member, as this page has them. */
export class HeldList {
  /** By key: the change that has brought each row last. */
  readonly #rows = new Map<string, Change>();
  /** How many in this page follow it. */
  followers = 0;
  /** How many of these want its rows to be kept on the device. */
  keepers = 0;
  /** Whether another tab, for which this one follows the server, wants that. */
  isKeptElsewhere = false;
  /** Whether all rows have been told once. */
  isWhole = false;
  /** Whether its rows come from the device and are not those of the checkpoint: they are shown until they are told anew. */
  isStale = false;
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

  /** Whether its rows are kept on the device. */
  get isKept(): boolean {
    return this.keepers > 0 || this.isKeptElsewhere;
  }

  /** Whether its rows are those of the checkpoint. */
  get isCurrent(): boolean {
    return this.isWhole && !this.isStale;
  }

  refuse(error: SvcError): void {
    this.forget();
    this.error = error;
  }

  forget(): void {
    this.#rows.clear();
    this.isWhole = false;
    this.isStale = false;
    this.error = null;
  }
}
