import type { Database, LongWork } from "./database.js";

/**
 * The same database, but with every call made as long work (`LongWork`). `long` gives, at each call, for whom it is
 * made and how long it may take.
 */
export function asLongWork(database: Database, long: () => LongWork): Database {
  return {
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    query: (statements) => database.query(statements, long()),
    batch: (statements) => database.batch(statements, long()),
    migrate: (statements) => database.migrate(statements, long()),
    close: () => database.close(),
  };
}
