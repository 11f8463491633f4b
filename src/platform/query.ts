import type { Result, Statement, Statements } from "./database.js";

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

/** Reads the first statement's row; null without a row. */
export function rowOf<T>(
  statements: Statement | readonly Statement[],
  read: (row: ResultRow) => T,
): Query<T | null> {
  return {
    statements: [statements].flat(),
    read: ([first]) => {
      const [row] = first!.rows;
      return row === undefined ? null : read(row);
    },
  };
}

/** Reads each row of a statement. */
export function rowsOf<T>(statement: Statement, read: (row: ResultRow) => T): Query<readonly T[]> {
  return { statements: [statement], read: ([result]) => result!.rows.map(read) };
}

/** Whether the first statement returns a row. */
export function hasRow(...statements: readonly Statement[]): Query<boolean> {
  return { statements, read: ([first]) => first!.rows.length > 0 };
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

/** Runs a query that only reads, in one round trip. */
export async function ask<T>(database: Pick<Statements, "query">, query: Query<T>): Promise<T> {
  return query.read(await database.query(query.statements));
}

/** Runs a query in one transaction and one round trip. */
export async function run<T>(database: Pick<Statements, "batch">, query: Query<T>): Promise<T> {
  return query.read(await database.batch(query.statements));
}
