import type { Column } from "../server/shapes.js";
import { queryParameters } from "./list-query.js";

/**
 * The address in the console of the row to which the value of a foreign key column refers: the user's page, or the list
 * of the table with a filter for the row.
 */
export function referenceHref({ table, column }: NonNullable<Column["references"]>, value: unknown) {
  if (table === "$users")
    return { screen: "users", rest: [String(value)], parameters: new URLSearchParams() };
  const parameters = queryParameters({
    conditions: [{ column, operator: "eq", value: String(value) }],
    sort: [],
    search: "",
  });
  return { screen: "data", rest: [table], parameters };
}
