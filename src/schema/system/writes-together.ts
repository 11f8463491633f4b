/**
 * Migration of release 0.2.0: tables for writes that belong together. `_staged` holds values that later statements of
 * the same transaction use; each transaction leaves it empty. `_idempotency` holds the answers to requests with an
 * `Idempotency-Key`: `name` is made of this key, the caller and the request, and `hash` is that of the body.
 * `_push_clients` holds the number of the last mutation of each client that pushes, and `_push_results` what became of
 * its latest ones. In both, `client` is made of the caller and the client's name.
 */
export const writesTogether: readonly string[] = [
  "CREATE TABLE _staged (name TEXT PRIMARY KEY, value, short TEXT) WITHOUT ROWID",
  `CREATE TABLE _idempotency (
    period INTEGER NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (period, name)
  ) WITHOUT ROWID`,
  `CREATE TABLE _push_clients (
    client TEXT PRIMARY KEY,
    last_id INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE _push_results (
    id INTEGER PRIMARY KEY,
    client TEXT NOT NULL,
    mutation INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    result TEXT NOT NULL,
    UNIQUE (client, mutation)
  )`,
];
