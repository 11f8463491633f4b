/**
 * Release 0.2.0: writes that belong together. `_staged` holds values that later statements of the same transaction use,
 * and is empty after each. `_idempotency` holds the answers of requests with an `Idempotency-Key`: `name` is the key,
 * the caller and the request, `hash` that of its body. `_push_clients` holds the last mutation of each client that pushes,
 * `_push_results` what became of the latest ones; `client` there is the caller and the client's name.
 */
export const writesTogether: readonly string[] = [
  "CREATE TABLE _staged (name TEXT PRIMARY KEY, value ANY, short TEXT) STRICT, WITHOUT ROWID",
  `CREATE TABLE _idempotency (
    period INTEGER NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (period, name)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _push_clients (
    client TEXT PRIMARY KEY,
    last_id INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _push_results (
    id INTEGER PRIMARY KEY,
    client TEXT NOT NULL,
    mutation INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    result TEXT NOT NULL,
    UNIQUE (client, mutation)
  ) STRICT`,
];
