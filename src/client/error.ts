/** Why a call failed: the server's refusal, or what kept its answer from arriving. */
export class SvcError extends Error {
  override readonly name = "SvcError";
  constructor(
    /** HTTP status; 0 where no answer came. */
    readonly status: number,
    /**
     * The server's `error.code`. Without one: `network_error`, `timeout`, `aborted`, `unexpected_answer`, or what a
     * sign-in provider's callback says.
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
    return this.code === "network_error" || this.code === "timeout" || this.status >= 500;
  }
}
