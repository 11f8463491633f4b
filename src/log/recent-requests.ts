/**
 * What is remembered of a request, for administrators: only what a line of the request log may say too. So no path, no
 * value and nothing else that was sent is in it.
 */
export interface RecentRequest {
  /** The id of the request's receipt (the record of its cost); for a request without one, an id that is made for it. */
  readonly id: string;
  /** When the request was answered, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly principal: { readonly kind: "anonymous" | "user" | "key"; readonly id: string | null } | null;
  /**
   * The numbers of rows read, written and returned; null where a number is not known, or the request left no receipt.
   */
  readonly rows: readonly [read: number | null, written: number | null, returned: number | null];
  /** What has refused the request: the key of svc.toml with the rule, or the scope that a key lacks; null for none. */
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

  /** Yields the remembered requests, the newest first. */
  *newest(): Iterable<RecentRequest> {
    const { length } = this.#kept;
    for (let back = 1; back <= length; back++) yield this.#kept[(this.#next - back + length) % length]!;
  }
}

/** How many requests are remembered, each of which takes less than a kilobyte. */
const recentMax = 1_000;
