import type { Database, LongWork } from "./database.js";

/** The database, with every call passed to it as long work (`LongWork`), which `long` is asked for at each call. */
export function asLongWork(database: Database, long: () => LongWork): Database {
  return {
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    query: (statements) => database.query(statements, long()),
    batch: (statements) => database.batch(statements, long()),
    migrate: (statements) => database.migrate(statements, long()),
    close: () => database.close(),
  };
}
