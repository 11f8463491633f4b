import { abortText } from "../platform/abort.js";
import { type Result, type Statement, statement } from "../platform/database.js";

/** The name of a client that pushes mutations: its caller, and the name that the client gives itself. */
export type ClientName = string;

/** How many clients that push one caller has at most. */
export const clientsMax = 1_000;
/** For how many mutations of a client, the latest ones, it is kept what became of each. */
export const resultsMax = 1_000;
const resultDays = 30;
/** After how many days without a mutation a client that pushes is forgotten. */
const clientDays = 365;
const dayMs = 86_400_000;

/** What became of a pushed mutation, as it is recorded: the members of its result without the rows. */
export type Recorded = Readonly<Record<string, unknown>> & {
  readonly status: "applied" | "conflict" | "rejected";
};

/**
 * Statements that take a pushed mutation for the next one of its client. They undo the batch for the reason `ledger`
 * where it is not: it was done before, another one has to come before it, or the caller has too many clients.
 */
export function takeNext(client: ClientName, id: number, nowMs: number, nonce: string): readonly Statement[] {
  const mutation = BigInt(id);
  const caller = client.slice(0, client.indexOf("\n") + 1);
  return [
    statement(
      `INSERT INTO _push_clients (client, last_id, at) SELECT v.client, v.id, v.at FROM (SELECT ? AS client, ? AS id, ? AS at, ? AS caller) AS v
      WHERE EXISTS (SELECT 1 FROM _push_clients AS c WHERE c.client = v.client)
        OR v.id = 1 AND (SELECT count(*) FROM _push_clients AS c WHERE c.client >= v.caller AND c.client < v.caller || char(1114111)) < ${clientsMax}
      ON CONFLICT (client) DO UPDATE SET last_id = excluded.last_id, at = excluded.at WHERE last_id = excluded.last_id - 1`,
      client,
      mutation,
      BigInt(nowMs),
      caller,
    ),
    statement(
      "SELECT CASE WHEN changes() = 1 THEN 1 ELSE json_extract('{}', ?) END AS is_next",
      abortText(nonce, "ledger"),
    ),
  ];
}

/** Statements that record what became of a pushed mutation, and forget an old one of the same client. */
export function record(
  client: ClientName,
  id: number,
  hash: string,
  nowMs: number,
  result: Recorded,
): readonly Statement[] {
  return [
    statement(
      "INSERT INTO _push_results (client, mutation, hash, at, result) VALUES (?, ?, ?, ?, ?)",
      client,
      BigInt(id),
      hash,
      BigInt(nowMs),
      JSON.stringify(result),
    ),
    statement(
      "DELETE FROM _push_results WHERE client = ? AND mutation <= ?",
      client,
      BigInt(id - resultsMax),
    ),
  ];
}

/** What is known of a client that pushes mutations. */
export interface Known {
  /** The id of the last mutation that was done or refused; 0 before the first. */
  readonly lastId: number;
  /**
   * What became of the client's mutations that were asked for, by their ids, where it is still known. `hash` is that of
   * what was sent.
   */
  readonly mutations: ReadonlyMap<number, { readonly hash: string; readonly result: Recorded }>;
}

/**
 * The statements that ask what is known of a client, for its mutations from one id to another. `knownOf` reads the
 * results.
 */
export function askKnown(client: ClientName, from: number, to: number): readonly Statement[] {
  return [
    statement("SELECT last_id FROM _push_clients WHERE client = ?", client),
    statement(
      "SELECT mutation, hash, result FROM _push_results WHERE client = ? AND mutation BETWEEN ? AND ?",
      client,
      BigInt(from),
      BigInt(to),
    ),
  ];
}

/** What is known of a client, read from the results of `askKnown`. */
export function knownOf([client, results]: readonly Result[]): Known {
  return {
    lastId: (client!.rows[0]?.[0] ?? 0) as number,
    mutations: new Map(
      results!.rows.map(([id, hash, result]) => [
        id as number,
        { hash: hash as string, result: JSON.parse(result as string) as Recorded },
      ]),
    ),
  };
}

/**
 * Statements that delete what became of mutations more than 30 days ago, of at most `rowsMax`, and clients that have
 * pushed nothing for a year.
 */
export function retirePushes(nowMs: number, rowsMax: number): readonly Statement[] {
  return [
    statement(
      "DELETE FROM _push_results WHERE id IN (SELECT id FROM _push_results ORDER BY id LIMIT ?) AND at <= ?",
      BigInt(rowsMax),
      BigInt(nowMs - resultDays * dayMs),
    ),
    statement("DELETE FROM _push_clients WHERE at <= ?", BigInt(nowMs - clientDays * dayMs)),
  ];
}
