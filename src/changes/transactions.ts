import { type Result, type Statement, statement } from "../platform/database.js";

/** Who makes the changes of a transaction of the log, and when. */
export interface TransactionBy {
  /** When the request came, in milliseconds since the epoch. */
  readonly at: number;
  readonly principalKind: "anonymous" | "user" | "key";
  readonly principalId: string | null;
  /** The attempt that makes the changes, null for none. */
  readonly attemptId: string | null;
  /** The client that pushed the changes, if one did; `mutation` is the id of its mutation. */
  readonly client?: string;
  readonly mutation?: number;
}

/**
 * By how many milliseconds at most the time of a transaction is moved forward to the time of the previous one. It is
 * more than a request lasts. If the previous time is further ahead, the clock was wrong and has been corrected, and the
 * transaction gets its true time.
 */
const raisedMsMax = 60_000;

/**
 * Begins a transaction of the log of changes. Later entries of the same database transaction belong to it, and
 * `closeTransaction` has to end it there. If the previous transaction has a later time, because its request came later,
 * this one gets that time: times do not go back from one transaction to the next.
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

/** SQL for the number of the newest entry of the log of changes, 0 if the log is empty. */
export const newestEntry = "ifnull((SELECT max(seq) FROM _changes), 0)";

/** `newestEntry` as a query. */
export const askNewestEntry: Statement = statement(`SELECT ${newestEntry} AS seq`);

/**
 * SQL for use on a row of `_transactions`: the number of the log's newest entry when the transaction before this one
 * ended; 0 if none is known. All entries of this transaction have higher numbers.
 */
export const entryBefore =
  "ifnull((SELECT p.seq FROM _transactions AS p WHERE p.id < _transactions.id ORDER BY p.id DESC LIMIT 1), 0)";

/**
 * Ends a transaction of the log of changes. A transaction without entries is deleted; any other gets the number of its
 * newest entry. The last statement returns how many entries the transaction has, or no row if it has none.
 */
export const closeTransaction: readonly Statement[] = [
  statement(
    `DELETE FROM _transactions WHERE id = ${newest} AND id IS NOT (SELECT tx FROM _changes ORDER BY seq DESC LIMIT 1)`,
  ),
  statement(
    `UPDATE _transactions SET seq = (SELECT max(seq) FROM _changes) WHERE id = ${newest} AND seq IS NULL RETURNING (SELECT count(*) FROM _changes WHERE seq > ${entryBefore} AND tx = _transactions.id) AS entries`,
  ),
];

/** How many entries a transaction of the log has, by the result of the last statement of `closeTransaction`. */
export function entriesIn({ rows }: Result): number {
  return rows.length === 0 ? 0 : (rows[0]![0] as number);
}

/** Removes the id of a user who no longer exists from all transactions of the log of changes. */
export function forgetUser(id: string): Statement {
  return statement(
    "UPDATE _transactions SET principal_id = NULL WHERE principal_kind = 'user' AND principal_id = ? AND NOT EXISTS (SELECT 1 FROM _users WHERE _users.id = principal_id)",
    id,
  );
}
