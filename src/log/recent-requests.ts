/**
 * What administrators see of a past request. Like a line of the request log, it holds no path, no value and nothing
 * else that was sent.
 */
export interface RecentRequest {
  /** The id of the request's receipt, or one that is made for a request without a receipt. */
  readonly id: string;
  /** When the request was answered, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly principal: { readonly kind: "anonymous" | "user" | "key"; readonly id: string | null } | null;
  /** Null if a number is not known, or the request left no receipt. */
  readonly rows: readonly [read: number | null, written: number | null, returned: number | null];
  /** What has refused the request: the key of svc.toml with the rule, or the scope that a key lacks. */
  readonly rule: string | null;
}

/** The last requests that this process (or this isolate of a Worker) has answered, in memory alone. */
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

/** Each takes less than a kilobyte. */
const recentMax = 1_000;
