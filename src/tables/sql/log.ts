import type { Statement } from "../../platform/database.js";
import type { TableName } from "../../sqlite/names.js";

/** The newest number that an entry has had. */
const newest = "ifnull((SELECT seq FROM sqlite_sequence WHERE name = '_changes'), 0)";

/**
 * One row about the log of a table: its floor, the time of that in milliseconds, the newest entry of all tables, and the
 * last entry at or before a time. Entries that another program made belong to the transaction before them, as far as
 * their own time allows.
 */
export function momentStatement(table: TableName, atMs: number): Statement {
  const at = BigInt(atMs);
  const ended =
    "ifnull((SELECT max(seq) FROM (SELECT seq FROM _transactions WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1)), h.floor)";
  const beyond =
    "ifnull((SELECT l.seq FROM _changes AS l WHERE l.seq > s.ended AND (l.tx IS NOT NULL OR l.at > ?) ORDER BY l.seq LIMIT 1), 9007199254740991)";
  return {
    sql: `SELECT s.floor, s.floor_at, ${newest} AS newest, ifnull((SELECT max(seq) FROM _changes WHERE seq > s.ended AND seq < ${beyond}), s.ended) AS found FROM (SELECT h.floor, h.floor_at, ${ended} AS ended FROM _history AS h WHERE h.tbl = ?) AS s`,
    params: [at, at, table],
  };
}
