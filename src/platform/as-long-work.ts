import type { Database, LongWork } from "./database.js";

/**
 * Wraps a database so that every call is made as long work (`LongWork`). `long` is asked at each call for whom the call
 * is made and how long it may take.
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
