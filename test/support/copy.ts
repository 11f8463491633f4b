/** The rows that a client has, by table and key: see `idOf`. */
export type Rows = Map<string, unknown>;

/** One change of a page of docs/sync.md. */
export interface Change {
  readonly table: string;
  readonly op: "insert" | "update" | "remove";
  readonly key: object;
  readonly row?: object;
}

/** `data` of an answer to a pull. */
export interface Pulled {
  readonly checkpoint: string;
  readonly more: boolean;
  readonly reset: string | null;
  /** The members whose rows are told whole. */
  readonly fresh?: readonly string[];
  readonly changes: readonly Change[];
}

export const idOf = (table: string, key: object) => `${table} ${JSON.stringify(key)}`;

/** Does what a page says to the rows that a client has; the first thing that cannot be done, or null. */
export function apply(rows: Rows, changes: readonly Change[]): string | null {
  for (const { table, op, key, row } of changes) {
    const id = idOf(table, key);
    const had = rows.get(id);
    if (op === "insert" ? had !== undefined : had === undefined) return `${op} of ${id}`;
    if (op === "remove") rows.delete(id);
    else if (JSON.stringify(row) === JSON.stringify(had)) return `${op} of ${id} changes nothing`;
    else rows.set(id, row);
  }
  return null;
}

/** The rows as lines that can be compared. */
export const sorted = (rows: Rows) => [...rows].map(([id, row]) => `${id} ${JSON.stringify(row)}`).sort();

/** A client was told something wrong. */
export class NotFollowedError extends Error {}

/**
 * What a client keeps of a stream: the rows as far as it was told them, and those of the last whole state, to which it goes
 * back where it lost the stream in the middle of the next.
 */
export class Copy {
  #rows: Rows = new Map();
  #whole: Rows = new Map();
  /** The id of the last whole state; null before the first. */
  lastId: string | null = null;

  /** Applies an event, whose `id` is null where more of the same state follows. Throws where it cannot be done. */
  take(changes: readonly Change[], id: string | null): void {
    const wrong = apply(this.#rows, changes);
    if (wrong !== null) throw new NotFollowedError(wrong);
    if (id === null) return;
    this.#whole = new Map(this.#rows);
    this.lastId = id;
  }

  /** The stream is lost: the next one begins at `lastId`. */
  rewind(): void {
    this.#rows = new Map(this.#whole);
  }

  /** The rows of the last whole state. */
  get whole(): Rows {
    return this.#whole;
  }
}
