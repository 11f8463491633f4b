import { newestEntry } from "../../changes/transactions.js";
import type { Statement } from "../../platform/database.js";
import type { TableName } from "../../sqlite/names.js";
import type { Sql } from "../sql-text/fragment.js";

/**
 * Makes the statement that reads one row about the log of changes: the table's floor (the number of the entry from
 * which on the table's state is known), the floor's time in milliseconds, the number of the newest entry of all tables,
 * and the number of the last entry at or before the time `atMs`. Entries that another program than the server has made
 * have no transaction. They count with the transaction before them, unless their own time is after `atMs`.
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

/** The SQL of the place of a statement's results in the log: the number of the newest entry, and its witness, as JSON. */
export const logPosition: Sql = {
  text: `(SELECT json_array(n.seq, (SELECT CAST(witness AS TEXT) FROM _changes WHERE seq = n.seq)) FROM (SELECT ${newestEntry} AS seq) AS n)`,
  params: [],
};

/** What a syncing client's request asks of the log of changes before the client gets any rows (`headStatement`). */
export interface HeadQuestion {
  readonly tables: readonly TableName[];
  /** Those of them of which it is asked from where on their state is known. */
  readonly floorOf: readonly TableName[];
  /**
   * The numbers of the two entries of the log that a client's checkpoint names; each is null where it does not name
   * that one. `from` is the one up to which the client has everything. `to` is the one up to which the present pages
   * go, where the client is in the midst of a pull of several pages.
   */
  readonly from: number | null;
  readonly to: number | null;
  /** How many entries after `from` are counted at most. One more is looked for, which tells that there are more. */
  readonly entriesMax: number;
  /**
   * The caller (`principalOf`) whose clients that push are to be reported, those that have pushed since the time
   * `sinceMs`. Null where no clients are to be reported.
   */
  readonly pushing: { readonly principal: string; readonly sinceMs: number } | null;
}

/** How many of a caller's clients that push are reported at most. */
const reportedClientsMax = 100;

/**
 * Makes the statement that reads one row about the log of changes, with these columns:
 *
 * - the number of the newest entry, and its witness: a random number that is stored with each entry, and which shows
 *   whether a client's checkpoint is of this log;
 * - the witnesses of the entries `from` and `to`;
 * - the highest floor of the tables `floorOf`: the entry from which on their state is known;
 * - how many entries came after `from`, `entriesMax` and one more at most; and a JSON array of those of the tables that
 *   have one of these;
 * - the generations of the tables (`_history`), as a JSON array of pairs;
 * - for the clients of `pushing` that have pushed, the id of the last mutation of each, as a JSON object by the
 *   clients' names; NULL where there are none.
 */
export function headStatement({ tables, floorOf, from, to, entriesMax, pushing }: HeadQuestion): Statement {
  const since = from === null ? null : BigInt(from);
  const most = BigInt(entriesMax + 1);
  const witness = (seq: string) => `(SELECT CAST(witness AS TEXT) FROM _changes WHERE seq = ${seq})`;
  const names = "(SELECT value FROM json_each(?))";
  const list = JSON.stringify(tables);
  const prefix = pushing === null ? null : `${pushing.principal}\n`;
  const clients = `SELECT substr(client, ?) AS name, last_id FROM _push_clients WHERE client >= ? AND client < ? AND at > ? LIMIT ${reportedClientsMax}`;
  const concerned = `SELECT DISTINCT tbl FROM (SELECT tbl FROM _changes NOT INDEXED WHERE seq > ? ORDER BY seq LIMIT ?) WHERE tbl IN ${names}`;
  return {
    sql: `SELECT n.seq AS newest, ${witness("n.seq")} AS newest_witness, ${witness("?")} AS witness_from, ${witness("?")} AS witness_to,
  (SELECT max(floor) FROM _history WHERE tbl IN ${names}) AS floor,
  (SELECT count(*) FROM (SELECT 1 FROM _changes WHERE seq > ? LIMIT ?)) AS entries,
  (SELECT json_group_array(tbl) FROM (${concerned})) AS concerned,
  (SELECT json_group_array(json_array(tbl, generation)) FROM (SELECT tbl, generation FROM _history WHERE tbl IN ${names} ORDER BY tbl)) AS generations,
  (SELECT nullif(json_group_object(name, last_id), '{}') FROM (${clients})) AS clients
  FROM (SELECT ${newestEntry} AS seq) AS n`,
    params: [
      since,
      to === null ? null : BigInt(to),
      JSON.stringify(floorOf),
      since,
      most,
      since,
      most,
      list,
      list,
      BigInt((prefix?.length ?? 0) + 1),
      prefix,
      // The upper end of a range with the names of all clients of the caller: names are ASCII, and this is Unicode's
      // last character.
      prefix && `${prefix}\u{10ffff}`,
      pushing && BigInt(pushing.sinceMs),
    ],
  };
}
