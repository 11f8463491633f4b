import type { Table } from "../project/model.js";
import { type JsonSchema, ref } from "../wire/schema.js";
import { UniqueNames } from "./unique-names.js";

/** A table in the document. */
export interface DocumentedTable extends Table {
  /** Begins the names of its schemas and parameters. */
  readonly model: string;
  /** The names of the parameters by which its rows are filtered, by column. */
  readonly filters: ReadonlyMap<string, string>;
}

/**
 * The schemas of a table, by what follows its model in their names (`docs/reference/http.md#openapi`). An empty suffix is
 * that of a row which is read.
 */
export const tableSuffixes = [
  "",
  // A row without some of its columns: by `select`, or after a write.
  ".part",
  // A row of a list with `expand`, and what `expand` adds to it.
  ".expanded",
  ".references",
  // A row as it was, and a version of it in the history.
  ".past",
  ".version",
  // Bodies: a new row, one in which every column may be left out, and a change.
  ".new",
  ".given",
  ".changes",
  ".key",
  // The names of its columns, those that can be compared, and what it can be sorted by.
  ".column",
  ".comparable",
  ".order",
  // Values by column, for the equality of `where`.
  ".where",
  // Lists as JSON: the body, its members, groups of filters, and the references to follow.
  ".query",
  ".list",
  ".filter",
  ".expand",
  ".options",
  ".optionsOfMany",
  // What a client follows of the table.
  ".follow",
  // Answers: rows, a row, a row after a write, what a creation wrote, the key of a deleted row, versions, rows as they
  // were.
  ".page",
  ".row",
  ".answer",
  ".written",
  ".deleted",
  ".versions",
  ".pastPage",
] as const;

/** The tables with names for their schemas, none of which is in `taken`, nor like a name of another table. */
export function documentedTables(tables: readonly Table[], taken: Iterable<string>): readonly DocumentedTable[] {
  const models = new UniqueNames([...namesOfLanguages, ...taken]);
  const parameters = new UniqueNames([]);
  return tables.map((table) => {
    const model = models.take(table.name, tableSuffixes);
    const filters = [...table.columns.keys()].map(
      (name) => [name, parameters.take(`${model}.filter.${name}`)] as const,
    );
    return { ...table, model, filters: new Map(filters) };
  });
}

/** Types of TypeScript that generated code uses. A schema of the same name would take their place there. */
const namesOfLanguages = [
  ..."Array Blob Date Error Exclude File FormData Headers Map NonNullable Object Omit Partial Pick Promise".split(" "),
  ..."ReadableStream Readonly Record Request RequestInit Required Response Set String URL URLSearchParams".split(" "),
];

/** A reference to a schema of a table. */
export function refTo({ model }: DocumentedTable, suffix: (typeof tableSuffixes)[number]): JsonSchema {
  return ref(model + suffix);
}
