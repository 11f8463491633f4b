import { NotSetUpError } from "./database.js";

/** The error of a database that has no tables of the server yet (their names begin with `_`), null for any other message. */
export function notSetUpError(message: string): NotSetUpError | null {
  return /^no such table: (main\.)?_/.test(message)
    ? new NotSetUpError("the database has not been set up: see `svc worker bootstrap` and `svc schema apply`")
    : null;
}
