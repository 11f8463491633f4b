/** The TypeScript types of one table, as the command `svc gen types` generates them from the project's schema. */
export interface TableTypes {
  row: object;
  /**
   * For each path of `expand` that follows a single reference, the name of the table whose rows it adds. The name
   * stands in an array where the path leads backwards, from a row to those that refer to it, of which there may be any
   * number.
   */
  references?: object;
  /** The type of the values with which a new row is created. */
  create: object;
  update: object;
  /** The type of a row's key: the value of a key of one column, or an object with the values of all key columns. */
  key: unknown;
}

/** The TypeScript types of one operation of the project, as the command `svc gen types` generates them. */
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
