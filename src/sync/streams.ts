import type { Actor } from "../auth/callers/principal.js";
import type { Config } from "../project/config.js";
import type { ResetReason } from "./judge-checkpoint.js";

/** Counts what happens with streams and waiting pulls, for `GET /metrics`. */
export interface SyncCounts {
  /** A stream, or a pull that waits, looks for changes once more. */
  looked(): void;
  /** A stream is sent events. A comment alone does not count. */
  event(): void;
  /** A client has to begin anew. */
  reset(reason: ResetReason): void;
}

/** How many streams and waiting pulls there may be at once (docs/reference/limits.md#streams). */
export type StreamBounds = Config["sync"];

/**
 * Counts the streams and waiting pulls of a process, and ends them when the process ends. It holds functions for that
 * and no AbortSignal, because on a Worker a signal belongs to the request that made it.
 */
export class Streams {
  readonly #places = new Set<StreamReservation>();
  /** How many places are taken, by whom they count for, as in `Place.of`. */
  readonly #taken = new Map<string, number>();
  readonly #atEnd = new Set<() => void>();
  #isEnding = false;

  constructor(public bounds: StreamBounds) {}

  /**
   * Takes a place for a stream or a waiting pull. Returns a function that gives the place back, or null if none is
   * left. `address` tells anonymous callers apart. The place is free again after `endsAtMs` in any case, because a
   * runtime may not report that a client has gone. Both times are milliseconds of a monotonic clock.
   */
  take(caller: Actor, address: string, nowMs: number, endsAtMs: number): (() => void) | null {
    for (const place of this.#places) if (place.endsAtMs <= nowMs) this.#release(place);
    const shares = sharesOf(caller, address, this.bounds);
    if (this.#isEnding || this.size >= this.bounds.max_streams) return null;
    if (shares.some(({ of, max }) => (this.#taken.get(of) ?? 0) >= max)) return null;
    const place = { endsAtMs, of: shares.map(({ of }) => of) };
    this.#places.add(place);
    for (const of of place.of) this.#taken.set(of, (this.#taken.get(of) ?? 0) + 1);
    return () => this.#release(place);
  }

  #release(place: StreamReservation): void {
    if (!this.#places.delete(place)) return;
    for (const of of place.of) {
      const left = this.#taken.get(of)! - 1;
      if (left === 0) this.#taken.delete(of);
      else this.#taken.set(of, left);
    }
  }

  /** How many streams and waiting pulls there are. */
  get size(): number {
    return this.#places.size;
  }

  /** Whether the process is about to end. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Calls `end` when the process is about to end, unless the returned function cancels that. */
  whenEnding(end: () => void): () => void {
    this.#atEnd.add(end);
    return () => {
      this.#atEnd.delete(end);
    };
  }

  /** Ends all streams and waiting pulls, and lets no new ones begin. */
  end(): void {
    this.#isEnding = true;
    for (const end of this.#atEnd) end();
  }
}

interface StreamReservation {
  readonly endsAtMs: number;
  /** Whom the place counts for, each as a text such as `user` and an id. */
  readonly of: readonly string[];
}

/** For whom a stream counts, such as the session and the user, and how many streams each may have at once. */
function sharesOf(
  caller: Actor,
  address: string,
  bounds: StreamBounds,
): readonly { readonly of: string; readonly max: number }[] {
  switch (caller.kind) {
    case "anonymous":
      return [
        { of: `address ${address}`, max: bounds.max_streams_per_address },
        // Anonymous callers together have half of the places, so that those who sign in find one, however many
        // addresses there are.
        { of: "anonymous", max: Math.ceil(bounds.max_streams / 2) },
      ];
    case "user":
    case "admin":
      return [
        { of: `session ${caller.sessionId}`, max: bounds.max_streams_per_session },
        { of: `user ${caller.id}`, max: bounds.max_streams_per_user },
      ];
    case "key":
      return [{ of: `key ${caller.id}`, max: bounds.max_streams_per_key }];
  }
}
