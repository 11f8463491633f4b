import {
  count,
  data,
  flag,
  type JsonSchema,
  list,
  nullOr,
  object,
  openObject,
  text,
} from "../wire/schema.js";
import type { Call } from "./paths.js";

const place = { line: nullOr(count), column: nullOr(count) };
const anything: JsonSchema = {};
const mapOf = (schema: JsonSchema): JsonSchema => ({ type: "object", additionalProperties: schema });

const caller: JsonSchema = {
  oneOf: [
    object({ user: text }),
    object({ email: text }),
    object({ anonymous: { const: true } }),
    object({ key: text }),
  ],
};

const term = object(
  {
    kind: { enum: ["term", "condition"] },
    text,
    ...place,
    path: text,
    row: { enum: ["before", "after"] },
    truth: nullOr(flag),
    unfinished: { const: true },
    counts: object({ true: count, false: count, null: count }),
  },
  "row",
  "unfinished",
  "counts",
);

const explanation = object(
  {
    allowed: nullOr(flag),
    reason: text,
    refusal: nullOr(object({ status: count, code: text, message: text })),
    rule: nullOr(object({ name: text, text: nullOr(text), ...place })),
    terms: list(term),
    columns: mapOf(object({ read: flag, write: flag })),
    values: mapOf(anything),
    not_judged: list(
      object({
        kind: { enum: ["not_null", "check", "unique", "foreign_key", "trigger"] },
        columns: list(text),
        text: nullOr(text),
      }),
    ),
    sql: nullOr(text),
    plan: list(object({ detail: text, index: nullOr(text) })),
    way: nullOr(text),
    indexes: list(object({ table: text, columns: list(text) })),
    rows_read: nullOr(count),
    ms: { type: "number", minimum: 0 },
    counts: object({
      rows: count,
      rows_truncated: flag,
      allowed: count,
      allowed_truncated: flag,
      offered: nullOr(count),
    }),
  },
  "counts",
);

/** The documentation of `POST /admin/api/explain` (`docs/reference/http.md#explain`). */
export const explainCall: Omit<Call, "callers"> = {
  summary: "Why a caller may, or may not, do something with a table",
  takes: object(
    {
      as: caller,
      action: { enum: ["read", "create", "update", "delete", "history"] },
      table: text,
      key: { anyOf: [openObject({}), text, { type: "null" }] },
      values: nullOr(openObject({})),
      query: nullOr(openObject({})),
    },
    "key",
    "values",
    "query",
  ),
  answers: { 200: data(explanation) },
  errors: [400, 401, 403, 404, 405, 413, 415, 429, 500, 503],
};
