import { AbortError, type Statement, statement } from "./database.js";

/** Written in hexadecimal, with two digits for each byte. */
export const nonceBytes = 16;

/**
 * An argument with which `json_extract('{}', ?)` fails, because it is no JSON path. By that a statement undoes its
 * batch and says why; `RAISE` is for triggers alone. On every backend SQLite's error message quotes the argument, and
 * `abortError` finds it there. `nonce` is a random number of the request's in hexadecimal, which no text of the owner's
 * or a caller's can hold. `reason` holds no quote.
 */
export function abortText(nonce: string, reason: string): string {
  return `svc:${nonce}:${reason}`;
}

/** A statement that always undoes its batch. */
export function undo(nonce: string, reason: string): Statement {
  return statement("SELECT json_extract('{}', ?) AS undone", abortText(nonce, reason));
}

/** Whether a statement of the request with this nonce undid its batch. */
export function isAbort(error: unknown, nonce: string): error is AbortError {
  return error instanceof AbortError && error.nonce === nonce;
}

/** Null for a message that is not about `abortText`. */
export function abortError(message: string): AbortError | null {
  const [, nonce, reason] = /bad JSON path: 'svc:([0-9a-f]{32}):([^']*)'/.exec(message) ?? [];
  return nonce === undefined ? null : new AbortError(nonce, reason!);
}
