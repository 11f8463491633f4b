/**
 * What is remembered of a request: what a line of the request log may say, and no more. No path, no value and nothing else
 * that was sent.
 */
export interface RecentRequest {
  /** The id of its receipt, where it has one. */
  readonly id: string;
  /** When it was answered, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly principal: { readonly kind: "anonymous" | "user" | "key"; readonly id: string | null } | null;
  /** Rows read, written and returned; null where that is not known, or the request left no receipt. */
  readonly rows: readonly [read: number | null, written: number | null, returned: number | null];
  /** What refused it: the key of svc.toml, or the scope that a key lacks. */
  readonly rule: string | null;
}

/** The last requests that this process (or this isolate of a Worker) has answered, kept in memory alone. */
export class RecentRequests {
  readonly #kept: RecentRequest[] = [];
  #next = 0;

  constructor(private readonly max = recentMax) {}

  add(request: RecentRequest): void {
    this.#kept[this.#next] = request;
    this.#next = (this.#next + 1) % this.max;
  }

  /** The newest first. */
  *newest(): Iterable<RecentRequest> {
    const { length } = this.#kept;
    for (let back = 1; back <= length; back++) yield this.#kept[(this.#next - back + length) % length]!;
  }
}

/** How many requests are remembered, each of which takes less than a kilobyte. */
export const recentMax = 1_000;
