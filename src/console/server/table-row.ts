/** A row's values by the names of columns. */
export type TableRow = Readonly<Record<string, unknown>>;
