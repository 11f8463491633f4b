import { administrators } from "../admin/endpoint.js";
import type { Endings, Endpoint } from "../http/endpoint.js";
import { meteringMembers } from "../wire/metering.js";
import { count, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { idempotencyKey } from "./operation.js";

const reading = [400, 401, 403, 404, 429, 500, 503] as const;
const writing = [...reading, 405, 409, 412, 413, 415, 422] as const;
const row = openObject({});
const rows = list(row);

const header = (name: string, schema: JsonSchema, description: string): JsonSchema => ({
  name,
  in: "header",
  schema,
  description,
});
const as = header("Svc-As", text, "user:<id>, key:<id> or anonymous: the answer is what that caller would get");
const preview = header(
  "Svc-Preview",
  { type: "integer", minimum: 64, maximum: 10_000 },
  "texts, JSON and blobs of more bytes come as svc.preview",
);
const ifMatch = header("If-Match", text, "the ETag of the row as the caller knows it");
const inPath = (name: string): JsonSchema => ({ name, in: "path", required: true, schema: text });
const table = inPath("table");

const body = { takes: { anyOf: [row, rows] } };
const q = { name: "q", in: "query", required: true, content: { "application/json": { schema: row } } };
const stream = { answers: { 200: "text/event-stream" }, errors: [...reading, 413, 415] as const };
const read: Endings = ["admin_read", null];

function by(
  method: Endpoint["method"],
  path: string,
  summary: string,
  rest: Omit<Endpoint, "method" | "path" | "summary" | "callers">,
): Endpoint {
  return { method, path, summary, callers: administrators, ...rest };
}

/**
 * The endpoints of `/admin/api/data`, and those by which administrators run operations
 * (`docs/reference/http.md#access-without-rules`). They take and answer the same as those under `/api` and `/ops`, and
 * have the same handlers.
 */
export function dataEndpoints(metered: boolean): readonly Endpoint[] {
  const metering = metered ? meteringMembers : {};
  const answer = (schema: JsonSchema) =>
    metered ? object({ data: schema, meta: object(metering) }) : object({ data: schema });
  const listed = object({ data: rows, meta: ref("svc.list") });
  const past = object({ data: rows, meta: openObject(metering) });
  const written = { anyOf: [row, list(nullOr(row)), { type: "null" }] };
  const reads = (schema: JsonSchema, ...parameters: readonly JsonSchema[]) => ({
    parameters: [table, as, ...parameters],
    answers: { 200: schema },
    errors: [...reading, 410] as const,
  });
  const writes = (answers: Endpoint["answers"], ...parameters: readonly JsonSchema[]) => ({
    parameters: [...parameters, idempotencyKey],
    answers,
    errors: writing,
    events: ["rows_changed", null] as const,
  });
  const one = { 200: answer(row) };
  const ofRow = (path: string, ...parameters: readonly JsonSchema[]): readonly Endpoint[] => [
    by("GET", path, "Gets a row", {
      parameters: [table, ...parameters, as, preview],
      answers: { ...one, 304: null },
      errors: reading,
    }),
    by("PATCH", path, "Updates a row", { ...body, ...writes(one, table, ...parameters, ifMatch, preview) }),
    by("DELETE", path, "Deletes a row", writes(one, table, ...parameters, ifMatch)),
  ];
  const same = (method: Endpoint["method"], path: string, rest: Parameters<typeof by>[3]) =>
    by(method, `/admin/api/data/${path}`, `as /api/${path.replace("{table}", "<table>")}, past the rules`, rest);
  const ofTable = "/admin/api/data/{table}";
  const ofOperation = "/admin/api/operations/{name}";
  return [
    // The paths under `_svc` come first, because the patterns of rows' paths (such as `{table}/{id}`) match them, too.
    // So a tool that takes the first path that matches takes the right one.
    same("POST", "_svc/pull", {
      ...body,
      ...stream,
      parameters: [as],
      answers: { 200: object({ data: row, meta: object(metering) }) },
      events: read,
    }),
    same("GET", "_svc/live", { ...stream, parameters: [q, as] }),
    same("POST", "_svc/live", { ...body, ...stream, parameters: [as], events: read }),
    same("POST", "_svc/batch", { ...body, ...writes({ 200: answer(rows) }) }),
    same("GET", "{table}", reads(listed, preview)),
    by("POST", ofTable, "Creates rows", {
      ...body,
      ...writes({ 200: answer(written), 201: answer(written) }, table, preview),
    }),
    same("POST", "{table}/_svc/query", {
      ...body,
      ...reads(listed, preview),
      errors: [...reading, 413, 415],
      events: read,
    }),
    same("GET", "{table}/_svc/aggregate", reads(listed)),
    same("GET", "{table}/_svc/history", reads(past, preview)),
    same("GET", "{table}/_svc/state", reads(past, preview)),
    same("POST", "{table}/_svc/restore", { ...body, ...writes(one, table, preview) }),
    ...ofRow(`${ofTable}/_svc/key`),
    ...ofRow(`${ofTable}/{id}`, inPath("id")),
    by("POST", ofOperation, "Runs an operation, past its rule", {
      ...body,
      ...writes({ 200: answer({}) }, inPath("name")),
      events: ["operation_run", null],
    }),
    by("GET", ofOperation, "Runs an operation that only reads, past its rule", {
      parameters: [inPath("name")],
      answers: { 200: answer({}) },
      errors: [...reading, 405, 409],
    }),
  ];
}

/** What stands in an answer in place of a long value, if the request has the header `Svc-Preview`. */
export const previewSchema: JsonSchema = {
  ...object({ $preview: text, bytes: count }),
  description: "the beginning of a value, and how many bytes it has; of a blob in base64",
};
