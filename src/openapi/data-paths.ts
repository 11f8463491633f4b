import { count, type JsonSchema, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { idempotencyKey, meteringMembers, type OperationSource } from "./operation.js";
import { type Call, type Documented, documentedPaths, endpointsOf } from "./paths.js";

const callers: OperationSource["callers"] = ["accessToken", "cookie", "apiKey"];
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
const as = header(
  "Svc-As",
  text,
  "user:<id>, key:<id> or anonymous: the answer is what that caller would get",
);
const preview = header(
  "Svc-Preview",
  { type: "integer", minimum: 64, maximum: 10_000 },
  "texts, JSON and blobs of more bytes come as svc.preview",
);
const ifMatch = header("If-Match", text, "the ETag of the row as the caller knows it");
const inPath = (name: string): JsonSchema => ({ name, in: "path", required: true, schema: text });
const table = inPath("table");

/**
 * Makes the OpenAPI paths of `/admin/api/data` and of operations that administrators run
 * (`docs/reference/http.md#access-without-rules`). They take and answer the same as the paths under `/api` and `/ops`.
 */
export function dataPaths(metered: boolean, documented: Documented) {
  const metering = metered ? meteringMembers : {};
  const answer = (schema: JsonSchema) =>
    metered ? object({ data: schema, meta: object(metering) }) : object({ data: schema });
  const listed = object({ data: rows, meta: ref("svc.list") });
  const past = object({ data: rows, meta: openObject(metering) });
  const written = { anyOf: [row, list(nullOr(row)), { type: "null" }] };
  const same = (path: string) => `as ${path}, past the rules`;
  const get = (summary: string, ...parameters: readonly JsonSchema[]): Call => ({
    summary,
    callers,
    parameters: [table, ...parameters, as, preview],
    answers: { 200: answer(row), 304: null },
    errors: reading,
  });
  const write = (summary: string, answers: Call["answers"], ...parameters: readonly JsonSchema[]): Call => ({
    summary,
    callers,
    parameters: [...parameters, idempotencyKey],
    answers,
    errors: writing,
  });
  const read = (summary: string, schema: JsonSchema, ...parameters: readonly JsonSchema[]): Call => ({
    summary,
    callers,
    parameters: [table, as, ...parameters],
    answers: { 200: schema },
    errors: [...reading, 410],
  });
  const body = (call: Call): Call => ({ ...call, takes: { anyOf: [row, rows] } });
  const stream: Call = {
    summary: same("/api/_svc/live"),
    callers,
    parameters: [as],
    answers: { 200: "text/event-stream" },
    errors: [...reading, 413, 415],
  };
  const q = { name: "q", in: "query", required: true, content: { "application/json": { schema: row } } };
  const rowCalls = (path: string, ...parameters: readonly JsonSchema[]): Record<string, Call> => ({
    [`get ${path}`]: get("Gets a row", ...parameters),
    [`patch ${path}`]: body(
      write("Updates a row", { 200: answer(row) }, table, ...parameters, ifMatch, preview),
    ),
    [`delete ${path}`]: write("Deletes a row", { 200: answer(row) }, table, ...parameters, ifMatch),
  });
  const ofTable = "/admin/api/data/{table}";
  const calls: Record<string, Call> = {
    // The paths under `_svc` come before the paths of rows, whose patterns (such as `{table}/{id}`) match them, too. So
    // a tool that takes the first path that matches takes the right one.
    "post /admin/api/data/_svc/pull": {
      ...body({ ...stream, summary: same("/api/_svc/pull") }),
      answers: { 200: object({ data: row, meta: object(metering) }) },
    },
    "get /admin/api/data/_svc/live": { ...stream, parameters: [q, as] },
    "post /admin/api/data/_svc/live": body(stream),
    "post /admin/api/data/_svc/batch": body(write(same("/api/_svc/batch"), { 200: answer(rows) })),
    [`get ${ofTable}`]: read(same("/api/<table>"), listed, preview),
    [`post ${ofTable}`]: body(
      write("Creates rows", { 200: answer(written), 201: answer(written) }, table, preview),
    ),
    [`post ${ofTable}/_svc/query`]: {
      ...body(read(same("/api/<table>/_svc/query"), listed, preview)),
      errors: [...reading, 413, 415],
    },
    [`get ${ofTable}/_svc/aggregate`]: read(same("/api/<table>/_svc/aggregate"), listed),
    [`get ${ofTable}/_svc/history`]: read(same("/api/<table>/_svc/history"), past, preview),
    [`get ${ofTable}/_svc/state`]: read(same("/api/<table>/_svc/state"), past, preview),
    [`post ${ofTable}/_svc/restore`]: body(
      write(same("/api/<table>/_svc/restore"), { 200: answer(row) }, table, preview),
    ),
    ...rowCalls(`${ofTable}/_svc/key`),
    ...rowCalls(`${ofTable}/{id}`, inPath("id")),
    "post /admin/api/operations/{name}": body(
      write("Runs an operation, past its rule", { 200: answer({}) }, inPath("name")),
    ),
    "get /admin/api/operations/{name}": {
      summary: "Runs an operation that only reads, past its rule",
      callers,
      parameters: [inPath("name")],
      answers: { 200: answer({}) },
      errors: [...reading, 405, 409],
    },
  };
  return documentedPaths("data", endpointsOf(calls), documented);
}

/** The schema of what stands in an answer in place of a long value, where the request has the header `Svc-Preview`. */
export const previewSchema: JsonSchema = {
  ...object({ $preview: text, bytes: count }),
  description: "the beginning of a value, and how many bytes it has; of a blob in base64",
};
