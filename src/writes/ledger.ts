import { abortText } from "../platform/abort.js";
import { type Statement, statement } from "../platform/database.js";
import { asIs, asJson, columns, combined, type Query, rowOf, rowsOf, together } from "../platform/query.js";

/**
 * The name of a client that pushes mutations: the caller (`principalOf`), a line break, and the name that the client
 * has given itself.
 */
export type ClientName = string;

/** How many clients that push mutations each caller has at most. */
export const clientsMax = 1_000;
/** For how many of a client's latest mutations the server remembers, for 30 days, what became of them. */
const resultsMax = 1_000;
const resultDays = 30;
/** After how many days in which it pushes no mutation a client is forgotten. */
const clientDays = 365;
const dayMs = 86_400_000;

/** What became of a pushed mutation, for when the client sends it again: its answer, without rows. */
export type Recorded = Readonly<Record<string, unknown>> & {
  readonly status: "applied" | "conflict" | "rejected";
};

/**
 * Statements that come first in the transaction of a pushed mutation and note it as the client's latest. They undo the
 * transaction for the reason `ledger` if it is not the next one: it was done or refused before, another one has to come
 * before it, or it is the first of a new client and the caller has too many clients.
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

/**
 * Statements that record what became of a pushed mutation, and delete all but the latest `resultsMax` records of the
 * client.
 */
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
    statement("DELETE FROM _push_results WHERE client = ? AND mutation <= ?", client, BigInt(id - resultsMax)),
  ];
}

/** A pushed mutation that was carried out or refused. `hash` is the hash of the operations that were sent. */
const pastMutation = columns({ id: asIs<number>, hash: asIs<string>, result: asJson<Recorded> });

/** What the server knows of a client that pushes mutations. */
export interface Known {
  /** The id of the last mutation that was carried out or refused; 0 if there is none. */
  readonly lastId: number;
  /** The mutations that were asked for, by id, as far as they are still recorded. */
  readonly mutations: ReadonlyMap<number, ReturnType<typeof pastMutation>>;
}

/** Asks what the server knows of a client and of its mutations `from` to `to`. */
export function knownOf(client: ClientName, from: number, to: number): Query<Known> {
  const last = statement("SELECT last_id FROM _push_clients WHERE client = ?", client);
  const results = statement(
    "SELECT mutation, hash, result FROM _push_results WHERE client = ? AND mutation BETWEEN ? AND ?",
    client,
    BigInt(from),
    BigInt(to),
  );
  const found = together(
    rowOf(last, ([id]) => id as number),
    rowsOf(results, pastMutation),
  );
  return combined(found, ([lastId, past]) => ({
    lastId: lastId ?? 0,
    mutations: new Map(past.map((mutation) => [mutation.id, mutation])),
  }));
}

/** Deletes at most `rowsMax` results older than 30 days, and clients that have pushed nothing for a year. */
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
