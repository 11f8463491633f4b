import { count, type JsonSchema, list, nullOr, object, ref, text } from "../wire/schema.js";
import { type DocumentedTable, refTo } from "./documented-table.js";
import { errorObject, jsonContent, operation } from "./operation.js";
import { sharedParameter } from "./parameters.js";

const isWritten = ({ virtual }: DocumentedTable): boolean => !virtual;

/** The schemas for several writes in one transaction. */
export function writesSchemas(tables: readonly DocumentedTable[], metered: boolean): JsonSchema {
  const written = tables.filter(isWritten);
  if (written.length === 0) return {};
  const table = ref("svc.writtenTable");
  const columns = ref("svc.columns");
  const base = { type: "object", description: "columns of the row as the caller believes it to be" };
  const answer = (schema: JsonSchema) => object({ data: schema, ...(metered && { meta: ref("svc.metering") }) });
  const positive = { type: "integer", minimum: 1 };
  const row = ref("svc.writtenRow");
  // What is none of a batch's operations is an answer's `rejected` (docs/sync.md#push), and not a 400.
  const pushed = { description: "an operation of a batch" };
  return {
    "svc.writtenTable": { type: "string", enum: written.map(({ name }) => name) },
    "svc.writtenRow": { anyOf: written.map((each) => refTo(each, ".part")) },
    "svc.columns": { type: "object", description: 'columns; {"$ref": "0.id"} is a column of an earlier result' },
    "svc.create": object({ op: { const: "create" }, table, values: columns }),
    "svc.update": object({ op: { const: "update" }, table, key: columns, set: columns, base }, "base"),
    "svc.delete": object({ op: { const: "delete" }, table, key: columns, base }, "base"),
    "svc.operation": { anyOf: [ref("svc.create"), ref("svc.update"), ref("svc.delete")] },
    "svc.batch": object({ operations: { ...list(ref("svc.operation")), minItems: 1, maxItems: 100 } }),
    "svc.batched": answer(list(row)),
    "svc.mutation": object({ id: positive, operations: { ...list(pushed), minItems: 1 } }),
    "svc.push": object({
      client: { type: "string", minLength: 1, maxLength: 100 },
      mutations: { ...list(ref("svc.mutation")), minItems: 1, maxItems: 100 },
    }),
    "svc.error": errorObject,
    "svc.mutated": object(
      {
        id: positive,
        status: { enum: ["applied", "duplicate", "conflict", "rejected"] },
        operation: count,
        error: ref("svc.error"),
        fields: list(text),
        current: ref("svc.row"),
        rows: list(nullOr(row)),
      },
      "operation",
      "error",
      "fields",
      "current",
      "rows",
    ),
    "svc.mutations": object({ last_id: count, results: list(ref("svc.mutated")) }),
    "svc.pushed": answer(ref("svc.mutations")),
  };
}

/**
 * The OpenAPI paths for several writes in one transaction (docs/reference/http.md#batch). None if no table can be
 * written.
 */
export function writesPaths(tables: readonly DocumentedTable[], cookies: boolean): JsonSchema {
  if (!tables.some(isWritten)) return {};
  const batch = operation(
    {
      id: "batch",
      tag: "writes",
      summary: "Carries several writes out, all or none",
      callers: ["accessToken", "cookie", "apiKey", "anybody"],
      parameters: [sharedParameter("idempotencyKey")],
      body: jsonContent(ref("svc.batch")),
      answers: { 200: ref("svc.batched") },
      errors: [400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503],
    },
    cookies,
  );
  const push = operation(
    {
      id: "push",
      tag: "writes",
      summary: "Carries a client's mutations out, each once",
      callers: ["accessToken", "cookie", "apiKey"],
      body: jsonContent(ref("svc.push")),
      answers: { 200: ref("svc.pushed") },
      errors: [400, 401, 403, 409, 413, 415, 422, 429, 500, 503],
    },
    cookies,
  );
  return { "/api/_svc/batch": { post: batch }, "/api/_svc/push": { post: push } };
}
