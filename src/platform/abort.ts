import { AbortError, type Statement, statement } from "./database.js";

/** How many random bytes the nonce of `abortText` has. It is written in hexadecimal, with two digits for each byte. */
export const nonceBytes = 16;

/**
 * Makes the argument with which `json_extract('{}', ?)` fails, because it is no JSON path. By that a statement undoes
 * the batch that it is in and says why; `RAISE` cannot do it, as it is for triggers alone. On every backend SQLite's
 * error message quotes the argument, and `abortError` finds it there. `nonce` is a random number of the request's in
 * hexadecimal, which no text of the owner's or a caller's can hold. `reason` holds no quote.
 */
export function abortText(nonce: string, reason: string): string {
  return `svc:${nonce}:${reason}`;
}

/** Makes a statement that always undoes the batch that it is in, whatever the database holds. */
export function undo(nonce: string, reason: string): Statement {
  return statement("SELECT json_extract('{}', ?) AS undone", abortText(nonce, reason));
}

/** Whether an error says that a statement of the request with this nonce undid its batch. */
export function isAbort(error: unknown, nonce: string): error is AbortError {
  return error instanceof AbortError && error.nonce === nonce;
}

/** Makes the AbortError of SQLite's message where a statement has failed by `abortText`; null for any other message. */
export function abortError(message: string): AbortError | null {
  const [, nonce, reason] = /bad JSON path: 'svc:([0-9a-f]{32}):([^']*)'/.exec(message) ?? [];
  return nonce === undefined ? null : new AbortError(nonce, reason!);
}
