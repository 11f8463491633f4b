import { columnType } from "./columns.js";
import { flag, list, nullOr, object, oneOf, type Static, text } from "./schema.js";

/** The schema of a named operation of the schema in force. */
export const listedOperation = object({
  name: text,
  params: list(object({ name: text, type: columnType, nullable: flag, required: flag, check: nullOr(text) })),
  allow: nullOr(text),
  reads_only: flag,
  returns: oneOf("one", "many", "none"),
  columns: list(object({ name: text, type: columnType })),
  steps: list(text),
  problems: list(text),
});
/** A named operation of the schema in force: its parameters, its rule `allow` and the SQL of its steps. */
export type ListedOperation = Static<typeof listedOperation>;
