import { meteringMembers } from "../wire/metering.js";
import { count, type JsonSchema, list, nullOr, object, ref, text } from "../wire/schema.js";
import { storedSchema } from "./column-schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";

/** The schemas of answers about history that are the same for all tables. `svc.past` is their `meta`. */
export function sharedPastSchemas(metered: boolean): JsonSchema {
  const moment = ref("svc.moment");
  const members = { limit: count, seq: moment, floor: moment, next_cursor: text };
  return {
    "svc.past": object({ ...members, ...(metered && meteringMembers) }, "seq", "next_cursor"),
    // API keys and administrators get the number itself, others a sealed text.
    "svc.moment": {
      anyOf: [{ type: "integer", minimum: 0 }, text],
      description: "the number of an entry in the log of changes, sealed for users",
    },
    "svc.author": object({ kind: { enum: ["anonymous", "user", "key"] }, id: nullOr(text) }),
    "svc.restore": object({
      key: { anyOf: [ref("svc.row"), { type: ["string", "number"] }] },
      seq: { type: ["integer", "string"] },
    }),
  };
}

/**
 * The schemas of a table's history: a row as it was, in which a column that was added to the table later is null, a
 * version of a row, the answers of `GET /api/:table/_svc/history` and `state`, and what a client follows of the table.
 */
export function pastSchemas(table: DocumentedTable, isLoose: (column: string) => boolean): JsonSchema {
  const { model } = table;
  const columns = [...table.columns.values()];
  const properties = columns.map((column): [string, JsonSchema] => [
    column.name,
    storedSchema({ ...column, notNull: false }, isLoose(column.name)),
  ]);
  const past = refTo(table, ".past");
  return {
    [`${model}.past`]: object(Object.fromEntries(properties), ...table.columns.keys()),
    [`${model}.pastPage`]: object({ data: list(past), meta: ref("svc.past") }),
    [`${model}.version`]: object({
      seq: ref("svc.moment"),
      at: nullOr({ ...text, format: "date-time" }),
      key: ref("svc.row"),
      op: { enum: ["insert", "update", "delete"] },
      by: nullOr(ref("svc.author")),
      changed: nullOr(list(text)),
      row: nullOr(past),
    }),
    [`${model}.follow`]: object(
      { table: text, where: { type: "object" }, filter: refTo(table, ".filter"), select: list(text) },
      "table",
      "where",
      "filter",
      "select",
    ),
    [`${model}.versions`]: object({ data: list(refTo(table, ".version")), meta: ref("svc.past") }),
  };
}
