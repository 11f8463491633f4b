import type { Database, LongWork } from "./database.js";

/** What is to be known of a database besides its calls, whether these are long work or not. */
export type DatabaseProperties = Omit<Database, "query" | "batch" | "migrate" | "close" | "hasReadThread">;

export function propertiesOf(database: DatabaseProperties): Required<DatabaseProperties> {
  const { foreignKeysStayOn, answerBytesMax, imageBytesMax, statementsMax, functionArgumentsMax } = database;
  return { foreignKeysStayOn, answerBytesMax, imageBytesMax, statementsMax, functionArgumentsMax };
}

/** Makes every call of a database as long work. `long` is asked at each call. */
export function asLongWork(database: Database, long: () => LongWork): Database {
  return {
    ...propertiesOf(database),
    query: (statements) => database.query(statements, long()),
    batch: (statements) => database.batch(statements, long()),
    migrate: (statements) => database.migrate(statements, long()),
    close: () => database.close(),
  };
}
