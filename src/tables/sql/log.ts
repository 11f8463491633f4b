import { newestEntry } from "../../changes/transactions.js";
import type { Statement } from "../../platform/database.js";
import type { TableName } from "../../sqlite/names.js";

/**
 * Reads one row about the log of a table: its floor (the entry from which on its state is known), the time of the floor
 * in milliseconds, the newest entry of all tables, and the last entry at or before a time. Entries that another program
 * made belong to the transaction before them, as far as their own time allows.
 */
export function momentStatement(table: TableName, atMs: number): Statement {
  const at = BigInt(atMs);
  const ended =
    "ifnull((SELECT max(seq) FROM (SELECT seq FROM _transactions WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1)), h.floor)";
  const beyond =
    "ifnull((SELECT l.seq FROM _changes AS l WHERE l.seq > s.ended AND (l.tx IS NOT NULL OR l.at > ?) ORDER BY l.seq LIMIT 1), 9007199254740991)";
  return {
    sql: `SELECT s.floor, s.floor_at, ${newestEntry} AS newest, ifnull((SELECT max(seq) FROM _changes WHERE seq > s.ended AND seq < ${beyond}), s.ended) AS found FROM (SELECT h.floor, h.floor_at, ${ended} AS ended FROM _history AS h WHERE h.tbl = ?) AS s`,
    params: [at, at, table],
  };
}

/** What is asked of the log of changes before a syncing client gets anything (see `logHead`). */
export interface HeadQuestion {
  readonly tables: readonly TableName[];
  /** The moments that a client's checkpoint names; null for none. */
  readonly from: number | null;
  readonly to: number | null;
  /** How many entries after `from` are counted; one more tells that there are more. */
  readonly entriesMax: number;
  /** Further tables, of which it is asked separately whether they have entries. */
  readonly related: readonly string[];
  /**
   * The caller (`principalOf`) whose pushing clients are asked for, and since when they must have pushed; null for
   * none.
   */
  readonly pushing: { readonly principal: string; readonly sinceMs: number } | null;
}

/** How many clients of a caller are reported at most. */
const clientsToldMax = 100;

/**
 * Reads one row about the log: the newest entry and its witness (a random number stored with each entry, which shows
 * whether a client's checkpoint is of this log), the witnesses at `from` and `to`, the highest floor of the tables, how
 * many entries came after `from`, and whether one of those that were looked at is of these tables, and of the related
 * ones. Then the tables' generations, as JSON, and the last mutation of each client of the caller that has pushed, as a
 * JSON object by their names; NULL for none.
 */
export function headStatement({ tables, from, to, entriesMax, related, pushing }: HeadQuestion): Statement {
  const since = from === null ? null : BigInt(from);
  const most = BigInt(entriesMax + 1);
  const witness = (seq: string) => `(SELECT CAST(witness AS TEXT) FROM _changes WHERE seq = ${seq})`;
  const names = "(SELECT value FROM json_each(?))";
  const list = JSON.stringify(tables);
  const prefix = pushing === null ? null : `${pushing.principal}\n`;
  const clients = `SELECT substr(client, ?) AS name, last_id FROM _push_clients WHERE client >= ? AND client < ? AND at > ? LIMIT ${clientsToldMax}`;
  const among = `EXISTS (SELECT 1 FROM (SELECT tbl FROM _changes NOT INDEXED WHERE seq > ? ORDER BY seq LIMIT ?) WHERE tbl IN ${names})`;
  return {
    sql: `SELECT n.seq AS newest, ${witness("n.seq")} AS newest_witness, ${witness("?")} AS witness_from, ${witness("?")} AS witness_to,
  (SELECT max(floor) FROM _history WHERE tbl IN ${names}) AS floor,
  (SELECT count(*) FROM (SELECT 1 FROM _changes WHERE seq > ? LIMIT ?)) AS entries,
  ${among} AS concerned,
  ${among} AS related,
  (SELECT json_group_array(json_array(tbl, generation)) FROM (SELECT tbl, generation FROM _history WHERE tbl IN ${names} ORDER BY tbl)) AS generations,
  (SELECT nullif(json_group_object(name, last_id), '{}') FROM (${clients})) AS clients
  FROM (SELECT ${newestEntry} AS seq) AS n`,
    params: [
      since,
      to === null ? null : BigInt(to),
      list,
      since,
      most,
      since,
      most,
      list,
      since,
      most,
      JSON.stringify(related),
      list,
      BigInt((prefix?.length ?? 0) + 1),
      prefix,
      // The upper end of the range of clients' names, which are ASCII.
      prefix && `${prefix}\u{10ffff}`,
      pushing && BigInt(pushing.sinceMs),
    ],
  };
}
