import type { Table } from "../project/model.js";
import { meteringMembers } from "../wire/metering.js";
import { count, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { errorObject, idempotencyKey, jsonContent, operation } from "./operation.js";

/**
 * The OpenAPI paths for several writes in one transaction (docs/reference/http.md#batch). None if no table can be
 * written.
 */
export function writesPaths(
  tables: readonly Table[],
  { metered, cookies }: { readonly metered: boolean; readonly cookies: boolean },
): JsonSchema {
  const written = tables.filter(({ virtual }) => !virtual);
  if (written.length === 0) return {};
  const tableName = { enum: written.map(({ name }) => name) };
  const columns = {
    type: "object",
    description: 'columns; {"$ref": "0.id"} is a column of an earlier result',
  };
  const base = { type: "object", description: "columns of the row as the caller believes it to be" };
  const asked = {
    anyOf: [
      object({ op: { const: "create" }, table: tableName, values: columns }),
      object({ op: { const: "update" }, table: tableName, key: columns, set: columns, base }, "base"),
      object({ op: { const: "delete" }, table: tableName, key: columns, base }, "base"),
    ],
  };
  const row = { anyOf: written.map(({ name }) => ref(`${name}.part`)) };
  const meta = object(metered ? meteringMembers : {});
  const answer = (schema: JsonSchema) => (metered ? object({ data: schema, meta }) : object({ data: schema }));
  const positive = { type: "integer", minimum: 1 };
  const batch = operation(
    {
      id: "batch",
      tag: "writes",
      summary: "Carries several writes out, all or none",
      callers: ["accessToken", "cookie", "apiKey", "anybody"],
      parameters: [idempotencyKey],
      body: jsonContent(object({ operations: { ...list(asked), minItems: 1, maxItems: 100 } })),
      answers: { 200: answer(list(row)) },
      errors: [400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503],
    },
    cookies,
  );
  const result = object(
    {
      id: positive,
      status: { enum: ["applied", "duplicate", "conflict", "rejected"] },
      operation: count,
      error: errorObject,
      fields: list(text),
      current: openObject({}),
      rows: list(nullOr(row)),
    },
    "operation",
    "error",
    "fields",
    "current",
    "rows",
  );
  const push = operation(
    {
      id: "push",
      tag: "writes",
      summary: "Carries a client's mutations out, each once",
      callers: ["accessToken", "cookie", "apiKey"],
      body: jsonContent(
        object({
          client: { type: "string", minLength: 1, maxLength: 100 },
          mutations: {
            ...list(object({ id: positive, operations: { type: "array", minItems: 1 } })),
            minItems: 1,
            maxItems: 100,
          },
        }),
      ),
      answers: { 200: answer(object({ last_id: count, results: list(result) })) },
      errors: [400, 401, 403, 409, 413, 415, 422, 429, 500, 503],
    },
    cookies,
  );
  return { "/api/_svc/batch": { post: batch }, "/api/_svc/push": { post: push } };
}
