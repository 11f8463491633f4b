import type { Table } from "../project/model.js";
import { meteringMembers } from "../wire/metering.js";
import { count, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { storedSchema } from "./column-schema.js";

/**
 * Returns the schema `svc.past` by name: that of `meta` in answers about the history of tables. `metered`: whether
 * metering adds members to it.
 */
export function pastMeta(metered: boolean): JsonSchema {
  const members = { limit: count, seq: moment, floor: moment, next_cursor: text };
  return { "svc.past": object({ ...members, ...(metered && meteringMembers) }, "seq", "next_cursor") };
}

/**
 * The schema of the number of an entry in the log of changes. API keys and administrators get the number itself, others
 * a sealed (encrypted) text.
 */
const moment: JsonSchema = {
  anyOf: [{ type: "integer", minimum: 0 }, text],
  description: "the number of an entry in the log of changes, sealed for users",
};

/**
 * Makes the schema `<table>.past` of a row as it was at some time in the past. A column that was added to the table
 * later is null.
 */
export function pastSchemas(table: Table, isLoose: (column: string) => boolean): JsonSchema {
  const columns = [...table.columns.values()];
  const properties = columns.map((column): [string, JsonSchema] => [
    column.name,
    storedSchema({ ...column, notNull: false }, isLoose(column.name)),
  ]);
  return { [`${table.name}.past`]: object(Object.fromEntries(properties), ...table.columns.keys()) };
}

/**
 * Makes the schema of an answer of `GET /api/:table/_svc/state`, which lists rows as they were at some time in the
 * past.
 */
export const pastRows = (table: string): JsonSchema =>
  object({ data: list(ref(`${table}.past`)), meta: ref("svc.past") });

/** Makes the schema of an answer of `GET /api/:table/_svc/history`, which lists versions of rows. */
export function versionsOf(table: string): JsonSchema {
  const version = object({
    seq: moment,
    at: nullOr({ ...text, format: "date-time" }),
    key: openObject({}),
    op: { enum: ["insert", "update", "delete"] },
    by: nullOr(object({ kind: { enum: ["anonymous", "user", "key"] }, id: nullOr(text) })),
    changed: nullOr(list(text)),
    row: nullOr(ref(`${table}.past`)),
  });
  return object({ data: list(version), meta: ref("svc.past") });
}

/** The query parameter `at`: a moment in the past, as a time or as the number of an entry in the log of changes. */
export const atParameter: JsonSchema = {
  name: "at",
  in: "query",
  schema: text,
  description: "a time in ISO 8601, or the number of an entry in the log of changes",
};
