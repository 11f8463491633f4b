import { Refusal } from "../http/refusal.js";
import { DeadlineError, OutcomeUnknownError, QueueFullError, UnavailableError } from "../platform/database.js";
import { HasherBusyError, type Log } from "../platform/platform.js";

/**
 * The refusal for a request that has failed with an exception. An unexpected exception is logged and answered as a 500.
 */
export function failedRequest(log: Log, error: unknown): Refusal {
  if (error instanceof DeadlineError) return deadlineExceeded;
  if (error instanceof QueueFullError) return queueFull(error);
  if (error instanceof OutcomeUnknownError) return outcomeUnknown;
  if (error instanceof UnavailableError || error instanceof HasherBusyError)
    return new Refusal("unavailable", "the server is too busy or its storage unavailable");
  log.error("a request failed", error);
  return new Refusal("internal", "something went wrong");
}

const deadlineExceeded = new Refusal(
  "deadline_exceeded",
  "this took longer than api.deadline_ms, or for a key api.key_deadline_ms, allows: fewer rows, a narrower filter or an index would help",
);
const queueFull = ({ retryAfterMs }: QueueFullError) =>
  new Refusal("rate_limited", "too much long work is waiting, or the last one of yours was interrupted", {
    headers: { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) },
  });
const outcomeUnknown = new Refusal(
  "outcome_unknown",
  "the database's answer was lost: whether this was done is not known",
);
