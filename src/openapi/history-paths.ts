import type { Table } from "../project/model.js";
import { meteringMembers } from "../wire/metering.js";
import { count, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { storedSchema } from "./column-schema.js";

/** The schema `svc.past`: `meta` in answers about history. */
export function pastMeta(metered: boolean): JsonSchema {
  const members = { limit: count, seq: moment, floor: moment, next_cursor: text };
  return { "svc.past": object({ ...members, ...(metered && meteringMembers) }, "seq", "next_cursor") };
}

/** API keys and administrators get the number itself, others a sealed text. */
const moment: JsonSchema = {
  anyOf: [{ type: "integer", minimum: 0 }, text],
  description: "the number of an entry in the log of changes, sealed for users",
};

/** The schema `<table>.past` of a row as it was. A column that was added to the table later is null. */
export function pastSchemas(table: Table, isLoose: (column: string) => boolean): JsonSchema {
  const columns = [...table.columns.values()];
  const properties = columns.map((column): [string, JsonSchema] => [
    column.name,
    storedSchema({ ...column, notNull: false }, isLoose(column.name)),
  ]);
  return { [`${table.name}.past`]: object(Object.fromEntries(properties), ...table.columns.keys()) };
}

/** The answer of `GET /api/:table/_svc/state`: rows as they were. */
export const pastRows = (table: string): JsonSchema =>
  object({ data: list(ref(`${table}.past`)), meta: ref("svc.past") });

/** The answer of `GET /api/:table/_svc/history`: versions of rows. */
export function versionsAnswer(table: string): JsonSchema {
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

/** A moment in the past. */
export const atParameter: JsonSchema = {
  name: "at",
  in: "query",
  schema: text,
  description: "a time in ISO 8601, or the number of an entry in the log of changes",
};
