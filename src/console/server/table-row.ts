/** A row of a table: its values by the names of the columns. */
export type TableRow = Readonly<Record<string, unknown>>;
