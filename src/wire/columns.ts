import { oneOf, type Static } from "./schema.js";

/** The schema of the type of a column or of a parameter, as svc.schema.yaml names it. */
export const columnType = oneOf("integer", "real", "text", "boolean", "json", "blob");
/** The type of a column or of a parameter, as svc.schema.yaml names it. */
export type ColumnTypeName = Static<typeof columnType>;
