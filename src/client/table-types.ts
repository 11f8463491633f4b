/** The types of one table, as `svc gen types` generates them from the project's schema. */
export interface TableTypes {
  row: object;
  /**
   * For each path of `expand` that follows a single reference, the table whose rows it adds; in an array if the path
   * leads backwards, from a row to any number that refer to it.
   */
  references?: object;
  /** The values of a new row. */
  create: object;
  update: object;
  /** The value of a key of one column, or an object with the values of all key columns. */
  key: unknown;
}

/** The types of one operation of the project, as `svc gen types` generates them. */
export interface OperationTypes {
  /** Parameters that may be left out are optional. */
  params: object;
  /** A row, an array of rows, or null for an operation that returns nothing. */
  result: unknown;
}

type Scalar = string | number | boolean;

/** The values that a filter on a column accepts: never for JSON, any scalar if the column's type is not known. */
export type Comparable<Value> = unknown extends Value
  ? Scalar
  : NonNullable<Value> extends Scalar
    ? NonNullable<Value>
    : never;

/** A column to sort by, with `-` before it for descending order. */
export type SortTerm<Row> = {
  [C in keyof Row & string]: Comparable<Row[C]> extends never ? never : C | `-${C}`;
}[keyof Row & string];
