import type { LongWork, Result, ResultValue, Statement, Statements } from "./database.js";

/**
 * Statements, and the function that reads their results, so that only the file that writes the SQL knows in which order
 * its columns come.
 */
export interface Query<T> {
  readonly statements: readonly Statement[];
  /** Reads the results of `statements`, one for each. */
  readonly read: (results: readonly Result[]) => T;
}

/** A row of a result. */
export type ResultRow = Result["rows"][number];

/** Reads a row as an object, whose members are in the order of the columns, each with the reader of its value. */
export function columns<R extends Readonly<Record<string, (value: ResultValue) => unknown>>>(readers: R) {
  const members = Object.entries(readers);
  return (row: ResultRow) =>
    Object.fromEntries(members.map(([name, read], i) => [name, read(row[i]!)])) as {
      readonly [K in keyof R]: ReturnType<R[K]>;
    };
}

/** Reads a value that is stored as it is. */
export const asIs = <T extends ResultValue>(value: ResultValue): T => value as T;
/** Reads a value that is stored as 1 or 0. */
export const asFlag = (value: ResultValue): boolean => value === 1;
/** Reads a value that is stored as JSON. */
export const asJson = <T>(value: ResultValue): T => JSON.parse(value as string) as T;

/** Reads a statement's row; null without a row. */
export function rowOf<T>(statement: Statement, read: (row: ResultRow) => T): Query<T | null> {
  return combined(rowsOf(statement, read), ([row = null]) => row);
}

/** Reads the row of a statement that always returns one. */
export function onlyRow<T>(statement: Statement, read: (row: ResultRow) => T): Query<T> {
  return { statements: [statement], read: ([result]) => read(result!.rows[0]!) };
}

/** Reads each row of a statement. */
export function rowsOf<T>(statement: Statement, read: (row: ResultRow) => T): Query<readonly T[]> {
  return { statements: [statement], read: ([result]) => result!.rows.map(read) };
}

/** Whether a statement returns a row. */
export function hasRow(statement: Statement): Query<boolean> {
  return combined(rowCount(statement), (count) => count > 0);
}

/** How many rows a statement returns. */
export function rowCount(statement: Statement): Query<number> {
  return { statements: [statement], read: ([result]) => result!.rows.length };
}

/** How many rows a statement writes. */
export function rowsWritten(statement: Statement): Query<number> {
  return { statements: [statement], read: ([result]) => result!.rowsWritten };
}

/** A query, and statements that follow it, whose results nobody reads. */
export function followedBy<T>({ statements, read }: Query<T>, ...others: readonly Statement[]): Query<T> {
  return { statements: [...statements, ...others], read };
}

/** Statements whose results nobody reads. */
export function effect(...statements: readonly Statement[]): Query<void> {
  return { statements, read: () => {} };
}

type QueryResults<Q extends readonly Query<unknown>[]> = {
  readonly [K in keyof Q]: Q[K] extends Query<infer T> ? T : never;
};

/** Makes one query of several, whose statements follow each other. */
export function together<const Q extends readonly Query<unknown>[]>(...queries: Q): Query<QueryResults<Q>> {
  return {
    statements: queries.flatMap(({ statements }) => statements),
    read: (results) => {
      let from = 0;
      return queries.map(({ statements, read }) => {
        const those = results.slice(from, from + statements.length);
        from += statements.length;
        return read(those);
      }) as QueryResults<Q>;
    },
  };
}

/** A query whose answer is `combine` of the answer of another one. */
export function combined<T, U>({ statements, read }: Query<T>, combine: (answer: T) => U): Query<U> {
  return { statements, read: (results) => combine(read(results)) };
}

/** Runs a query that only reads, in one round trip. With `long` it ends at its deadline. */
export async function ask<T>(database: Pick<Statements, "query">, query: Query<T>, long?: LongWork) {
  return query.read(await database.query(query.statements, long));
}

/** Runs a query in one transaction and one round trip. With `long` it ends at its deadline. */
export async function run<T>(database: Pick<Statements, "batch">, query: Query<T>, long?: LongWork) {
  return query.read(await database.batch(query.statements, long));
}
