import { AbortError, type Statement, statement } from "./database.js";

/** How many random bytes the nonce of `abortText` is made of. It is written as twice as many hexadecimal digits. */
export const nonceBytes = 16;

/**
 * The argument with which `json_extract('{}', ?)` fails on every backend, because it is no path: SQLite quotes it in
 * the message, where `abortError` finds it. In this way a statement undoes the batch that it is in, and says why:
 * `RAISE` is for triggers alone. `nonce` is a random number of the request's in hexadecimal, which no text of the
 * owner's or a caller's can know. `reason` holds no quote.
 */
export function abortText(nonce: string, reason: string): string {
  return `svc:${nonce}:${reason}`;
}

/** A statement that undoes the batch that it is in, whatever the database holds. */
export function undo(nonce: string, reason: string): Statement {
  return statement("SELECT json_extract('{}', ?) AS undone", abortText(nonce, reason));
}

/** Whether a guard with this nonce has undone a batch. */
export function isAbort(error: unknown, nonce: string): error is AbortError {
  return error instanceof AbortError && error.nonce === nonce;
}

/** The error for SQLite's message where a statement has failed by `abortText`; null for any other message. */
export function abortError(message: string): AbortError | null {
  const [, nonce, reason] = /bad JSON path: 'svc:([0-9a-f]{32}):([^']*)'/.exec(message) ?? [];
  return nonce === undefined ? null : new AbortError(nonce, reason!);
}
