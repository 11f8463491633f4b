import { type Database, type Result, type Statement, statement } from "../platform/database.js";
import { entryBefore } from "./transactions.js";

/** For how many days the log of a table's changes is kept. */
export interface Kept {
  readonly table: string;
  readonly days: number;
}

/** How many entries one transaction deletes, so that it does not hold up other writes. */
const entriesAtOnce = 500;
/** How many transactions one call of `retireChanges` spends on a table at most; the next call does the rest. */
const roundsMax = 200;
const dayMs = 86_400_000;

/**
 * Deletes entries of the log of changes that are older than their table keeps them. The newest entry of all stays, so
 * that a client's checkpoint at it can still be told from one of another database.
 */
export async function retireChanges(database: Database, kept: readonly Kept[], nowMs: number): Promise<void> {
  for (const { table, days } of kept) {
    if (!Number.isFinite(days)) continue;
    const [state] = await database.query([statement("SELECT floor FROM _history WHERE tbl = ?", table)]);
    let floor = state!.rows[0]?.[0] as number | undefined;
    for (let round = 0; round < roundsMax && floor !== undefined; round++) {
      const [raised, deleted] = await database.batch(retirement(table, floor, nowMs - days * dayMs));
      await deleteUnused(database, deleted!);
      floor = raised!.rows[0]?.[0] as number | undefined;
    }
  }
}

/** SQL for the time of the entry `_l` of the log: that of its transaction, else its own. */
const atOf = "ifnull((SELECT t.at FROM _transactions AS t WHERE t.id = _l.tx), _l.at)";

/**
 * Deletes old entries of a table and raises the table's floor, up to which entries may be missing, in one transaction.
 * If the floor still is `floor`, it becomes the number of the last of the next 500 entries that is older than
 * `beforeMs`, and the first statement returns it; otherwise no row. So a reader that reads entries, and then finds the
 * floor no higher than the entry after which it began, has missed none.
 */
function retirement(table: string, floor: number, beforeMs: number): readonly Statement[] {
  const next = `SELECT _l.seq AS seq, ${atOf} AS at FROM v CROSS JOIN _changes AS _l NOT INDEXED
    WHERE _l.seq > v.floor AND _l.tbl = v.tbl AND _l.seq < (SELECT max(seq) FROM _changes) ORDER BY _l.seq LIMIT ${entriesAtOnce}`;
  const last = "SELECT seq, at FROM next WHERE at < (SELECT before FROM v) ORDER BY seq DESC LIMIT 1";
  return [
    statement(
      `WITH v AS (SELECT ? AS floor, ? AS tbl, ? AS before), next AS (${next}), last AS (${last})
      UPDATE _history SET (floor, floor_at) = (SELECT seq, at FROM last)
      WHERE tbl = (SELECT tbl FROM v) AND floor = (SELECT floor FROM v) AND EXISTS (SELECT 1 FROM last) RETURNING floor`,
      BigInt(floor),
      table,
      BigInt(beforeMs),
    ),
    statement(
      "DELETE FROM _changes WHERE seq > ? AND tbl = ? AND seq <= (SELECT floor FROM _history AS h WHERE h.tbl = _changes.tbl) RETURNING tx",
      BigInt(floor),
      table,
    ),
  ];
}

/**
 * Deletes transactions of the log that have no entry left, except the newest. It takes the result of a statement that
 * deleted entries and returned the `tx` of each; it looks at no other transactions.
 */
export async function deleteUnused(database: Pick<Database, "batch">, { rows }: Result): Promise<void> {
  const transactions = [...new Set(rows.map(([tx]) => tx))].filter((tx) => tx !== null);
  if (transactions.length > 0) await database.batch([unused(JSON.stringify(transactions))]);
}

/** `transactions` is a JSON array of ids. */
function unused(transactions: string): Statement {
  return statement(
    `DELETE FROM _transactions WHERE id IN (SELECT value FROM json_each(?)) AND id < (SELECT max(id) FROM _transactions)
      AND NOT EXISTS (SELECT 1 FROM _changes AS _l WHERE _l.seq > ${entryBefore} AND _l.seq <= _transactions.seq AND _l.tx = _transactions.id)`,
    transactions,
  );
}
