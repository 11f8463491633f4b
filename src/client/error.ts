/**
 * The error that a call of the client throws. The server has refused the call, its response did not arrive or could not
 * be read, the call was aborted, or the client has not sent it because it is wrong in itself.
 */
export class SvcError extends Error {
  override readonly name: string = "SvcError";

  /**
   * The columns that the server's refusal is about, such as those of a unique constraint, so that a form can mark its
   * fields. Empty where the server names none.
   */
  readonly columns: readonly string[];

  /**
   * The id that the server expects the next pushed mutation to have, if it has refused a push because of its ids; null
   * for every other error.
   */
  readonly expected: number | null;

  constructor(
    /** The HTTP status of the response; 0 where no response arrived or nothing was sent. */
    readonly status: number,
    /**
     * The server's `error.code` (`docs/reference/errors.md#codes`), or one of the client's own codes: `network_error`,
     * `timeout`, `aborted`, `unexpected_answer` and `bad_call`. `oauth.exchange` also throws the code that the URL of
     * its page has as `error`.
     */
    readonly code: string,
    message: string,
    /**
     * After how many seconds the call may be sent again, from the header Retry-After; null where the header is missing.
     */
    readonly retryAfterSeconds: number | null = null,
    options: ErrorOptions & { readonly columns?: readonly string[]; readonly expected?: number | null } = {},
  ) {
    super(message, options);
    this.columns = options.columns ?? [];
    this.expected = options.expected ?? null;
  }

  /**
   * Whether the same call may succeed later, because the failure was not caused by the call itself: no response
   * arrived, or its status is 5xx (except `deadline_exceeded`). False for status 429, and for a call that was aborted.
   */
  get isTransient(): boolean {
    const { code, status } = this;
    // With this code the server has stopped the request at its time limit. The same request would take as long again.
    if (code === "deadline_exceeded") return false;
    return code === "network_error" || code === "timeout" || status >= 500;
  }
}

/**
 * The error of a call with `ifMatch` where the row is of another version: somebody has changed it meanwhile, and
 * nothing was written (`docs/guides/client.md#versions`).
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

/**
 * Settles as `work` does, or rejects with SvcError `aborted` as soon as the signal is aborted. The work itself goes on.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new SvcError(0, "aborted", "the call was aborted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
  // If `work` rejects after the abort, nobody awaits it any more. This handler keeps that from counting as an unhandled
  // rejection.
  work.catch(() => {});
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}
