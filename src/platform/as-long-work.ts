import type { Database, LongWork } from "./database.js";

/** Makes every call of a database as long work. `long` is asked at each call. */
export function asLongWork(database: Database, long: () => LongWork): Database {
  return {
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    functionArgumentsMax: database.functionArgumentsMax,
    query: (statements) => database.query(statements, long()),
    batch: (statements) => database.batch(statements, long()),
    migrate: (statements) => database.migrate(statements, long()),
    close: () => database.close(),
  };
}
