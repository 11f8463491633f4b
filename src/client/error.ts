/** Why a call failed: the server's refusal, or what kept its answer from arriving. */
export class SvcError extends Error {
  override readonly name = "SvcError";
  constructor(
    /** HTTP status; 0 where no answer came. */
    readonly status: number,
    /**
     * The server's `error.code`. Without one: `network_error`, `timeout`, `aborted`, `unexpected_answer`, `bad_call`, or
     * what a sign-in provider's callback says.
     */
    readonly code: string,
    message: string,
    /** Of the header Retry-After; null where there is none. */
    readonly retryAfterSeconds: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** It may go well if it is tried again: nothing is wrong with the request. */
  get isTransient(): boolean {
    const { code, status } = this;
    return code === "network_error" || code === "timeout" || status >= 500;
  }
}

/** What no server is asked, as it could not mean what was meant. */
export function badCall(message: string): SvcError {
  return new SvcError(0, "bad_call", message);
}

/** The server's own word that a refresh token is over. Nothing else signs anybody out (specification 5.5). */
export function isRejectedToken(error: unknown): boolean {
  return error instanceof SvcError && error.status === 401 && error.code === "invalid_refresh_token";
}

/** Settles as `work` does, or is rejected when the signal says so. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new SvcError(0, "aborted", "the call was aborted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
  // Whichever loses the race is nobody's business any more.
  work.catch(() => {});
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}
