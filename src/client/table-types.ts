/** The types of a table, as `svc gen types` writes them. */
export interface TableTypes {
  row: object;
  /**
   * By path of `expand`, the name of the table that the reference leads to; in an array where the path leads backwards,
   * to any number of rows.
   */
  references?: object;
  /** The values that a new row takes. */
  create: object;
  update: object;
  /** The type of a row's key: the value of a key of one column, or an object with the values of all key columns. */
  key: unknown;
}

/** The types of an operation, as `svc gen types` writes them. */
export interface OperationTypes {
  /** The type of the operation's parameters; those that may be left out are optional. */
  params: object;
  /** The type of what the operation returns: a row, an array of rows, or null for an operation that returns nothing. */
  result: unknown;
}

type Scalar = string | number | boolean;

/**
 * The type of the values that a filter on a column accepts: never for JSON columns, and any scalar where the column's
 * type is not known.
 */
export type Comparable<Value> = unknown extends Value
  ? Scalar
  : NonNullable<Value> extends Scalar
    ? NonNullable<Value>
    : never;

/** A column to sort by, with `-` before it for descending order. */
export type SortTerm<Row> = {
  [C in keyof Row & string]: Comparable<Row[C]> extends never ? never : C | `-${C}`;
}[keyof Row & string];
