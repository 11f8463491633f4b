import type { Column } from "../server/shapes.js";
import { queryParameters } from "./list-query.js";

/** Where the row is shown that a value of a referring column leads to. */
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
