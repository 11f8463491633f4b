/**
 * What a call of the client throws: the server has refused it, its response did not arrive or could not be read, it was
 * aborted, or it is wrong in itself and was not sent.
 */
export class SvcError extends Error {
  override readonly name: string = "SvcError";

  /** The columns that the refusal is about, for a form to mark, such as those of a unique constraint; empty if none. */
  readonly columns: readonly string[];

  /** The id that the server expects of the next mutation, if it refused a push because of its ids; otherwise null. */
  readonly expected: number | null;

  /** The step of an operation that has refused the call, from 0; null if none has. */
  readonly step: number | null;

  constructor(
    /** The HTTP status of the response; 0 if no response arrived or nothing was sent. */
    readonly status: number,
    /**
     * The server's `error.code` (`docs/reference/errors.md#codes`), or one of the client's own: `network_error`,
     * `timeout`, `aborted`, `unexpected_answer` and `bad_call`. `oauth.exchange` also throws the code that its page's
     * URL has as `error`.
     */
    readonly code: string,
    message: string,
    /** From the header Retry-After; null without one. */
    readonly retryAfterSeconds: number | null = null,
    options: ErrorOptions & Partial<Pick<SvcError, "columns" | "expected" | "step">> = {},
  ) {
    super(message, options);
    this.columns = options.columns ?? [];
    this.expected = options.expected ?? null;
    this.step = options.step ?? null;
  }

  /**
   * Whether the same call may succeed later: no response arrived, or its status is 5xx (except `deadline_exceeded`).
   * False for status 429, and for a call that was aborted.
   */
  get isTransient(): boolean {
    const { code, status } = this;
    // The server has stopped the request at its time limit. The same request would take as long again.
    if (code === "deadline_exceeded") return false;
    return code === "network_error" || code === "timeout" || status >= 500;
  }
}

/**
 * The error of a call with `ifMatch` if the row has another version: somebody has changed it meanwhile, and nothing was
 * written (`docs/guides/client.md#versions`).
 */
export class SvcPreconditionError extends SvcError {
  override readonly name = "SvcPreconditionError";
}

/** Makes the error of a call that is wrong in itself, and so is not sent. */
export function badCall(message: string): SvcError {
  return new SvcError(0, "bad_call", message);
}

/**
 * Whether the server has refused the refresh token, so that the session is over. No other error signs anybody out
 * (`docs/reference/auth.md#rotation-and-its-grace-window`).
 */
export function isRejectedToken(error: unknown): boolean {
  return error instanceof SvcError && error.status === 401 && error.code === "invalid_refresh_token";
}

/** Settles as `work` does, or rejects with SvcError `aborted` once the signal is aborted. The work goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new SvcError(0, "aborted", "the call was aborted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
  // After the abort nobody awaits `work`: without this handler its rejection would count as unhandled.
  work.catch(() => {});
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}
