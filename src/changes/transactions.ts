import { type Result, type Statement, statement } from "../platform/database.js";

/** Who makes the changes of a transaction of the log, and when. */
export interface TransactionBy {
  /** When the request came, in milliseconds since the epoch. */
  readonly at: number;
  readonly principalKind: "anonymous" | "user" | "key";
  readonly principalId: string | null;
  /** The id of the metered request (attempt) that makes the changes, null for none. */
  readonly attemptId: string | null;
  /** Where a client has pushed the changes: the client's name, and in `mutation` the id of its mutation. */
  readonly client?: string;
  readonly mutation?: number;
}

/**
 * By how many milliseconds the time of a transaction is raised at most, so that it is not before that of the one before
 * it: more than a request lasts. Where the clock was further ahead than that and was put right, times are true at once.
 */
const raisedMsMax = 60_000;

/**
 * The statement that begins a transaction of the log: entries that are written after it in the same transaction of the
 * database belong to it. `closeTransaction` has to end it there. Its time is not before that of the transaction before
 * it, whose request may have come later, so that times never go back from one transaction to the next.
 */
export function openTransaction(by: TransactionBy): Statement {
  const { at, principalKind, principalId, attemptId, client = null, mutation } = by;
  return statement(
    "INSERT INTO _transactions (at, principal_kind, principal_id, attempt_id, client, mutation) VALUES (max(?, ifnull((SELECT at FROM (SELECT at FROM _transactions ORDER BY id DESC LIMIT 1) WHERE at <= ?), 0)), ?, ?, ?, ?, ?)",
    BigInt(at),
    BigInt(at + raisedMsMax),
    principalKind,
    principalId,
    attemptId,
    client,
    mutation === undefined ? null : BigInt(mutation),
  );
}

const newest = "(SELECT max(id) FROM _transactions)";

/** The number of the newest entry of the log in SQL, 0 before the first. */
export const newestEntry = "ifnull((SELECT max(seq) FROM _changes), 0)";

/** A query for the number of the newest entry of the log, 0 before the first. */
export const askNewestEntry: Statement = statement(`SELECT ${newestEntry} AS seq`);

/**
 * SQL for the number of the last entry of the log before those of the transaction in the row `_transactions`, 0 where
 * none is known.
 */
export const entryBefore =
  "ifnull((SELECT p.seq FROM _transactions AS p WHERE p.id < _transactions.id ORDER BY p.id DESC LIMIT 1), 0)";

/**
 * The statements that end a transaction of the log: one without entries is deleted, another one gets the number of its
 * newest entry. The last statement returns how many entries it has, or no row where it has none.
 */
export const closeTransaction: readonly Statement[] = [
  statement(
    `DELETE FROM _transactions WHERE id = ${newest} AND id IS NOT (SELECT tx FROM _changes ORDER BY seq DESC LIMIT 1)`,
  ),
  statement(
    `UPDATE _transactions SET seq = (SELECT max(seq) FROM _changes) WHERE id = ${newest} AND seq IS NULL RETURNING (SELECT count(*) FROM _changes WHERE seq > ${entryBefore} AND tx = _transactions.id) AS entries`,
  ),
];

/** How many entries of the log a transaction has, from the result of the last statement of `closeTransaction`. */
export function entriesIn({ rows }: Result): number {
  return rows.length === 0 ? 0 : (rows[0]![0] as number);
}

/** The statement that takes the id of a user who no longer exists out of all transactions of the log. */
export function forgetUser(id: string): Statement {
  return statement(
    "UPDATE _transactions SET principal_id = NULL WHERE principal_kind = 'user' AND principal_id = ? AND NOT EXISTS (SELECT 1 FROM _users WHERE _users.id = principal_id)",
    id,
  );
}
