import { NotSetUpError } from "./database.js";

/**
 * The error for SQLite's message about a missing table whose name begins with `_`: such tables are the server's own.
 * Null for any other message.
 */
export function notSetUpError(message: string): NotSetUpError | null {
  return /^no such table: (main\.)?_/.test(message)
    ? new NotSetUpError("the database has not been set up: see `svc worker bootstrap` and `svc schema apply`")
    : null;
}
