import { administrators } from "../admin/endpoint.js";
import type { Endings, Endpoint } from "../http/endpoint.js";
import { meteringMembers } from "../wire/metering.js";
import { count, type JsonSchema, jsonText, list, nullOr, object, openObject, ref, text } from "../wire/schema.js";
import { sharedParameter } from "./parameters.js";

const reading = [400, 401, 403, 404, 429, 500, 503] as const;
const writing = [...reading, 405, 409, 412, 413, 415, 422] as const;
const row = ref("svc.row");
const as = sharedParameter("as");
const preview = sharedParameter("preview");
const ifMatch = sharedParameter("ifMatch");
const table = sharedParameter("table");

const body = { takes: ref("svc.rows") };
const q = { name: "q", in: "query", required: true, schema: jsonText(row) };
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

const rows = ref("svc.anyRows");
const listed = ref("svc.anyPage");
const past = ref("svc.anyPast");
const written = ref("svc.anyWritten");
const reads = (schema: JsonSchema, ...parameters: readonly JsonSchema[]) => ({
  parameters: [table, as, ...parameters],
  answers: { 200: schema },
  errors: [...reading, 410] as const,
});
const writes = (answers: Endpoint["answers"], ...parameters: readonly JsonSchema[]) => ({
  parameters: [...parameters, sharedParameter("idempotencyKey")],
  answers,
  errors: writing,
  events: ["rows_changed", null] as const,
});
const one = { 200: ref("svc.anyRow") };
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

/**
 * The endpoints of `/admin/api/data`, and those by which administrators run operations
 * (`docs/reference/http.md#access-without-rules`). They take and answer the same as those under `/api` and `/ops`, and
 * have the same handlers.
 */
export const dataEndpoints: readonly Endpoint[] = [
  // The paths under `_svc` come first, because the patterns of rows' paths (such as `{table}/{id}`) match them, too.
  // So a tool that takes the first path that matches takes the right one.
  same("POST", "_svc/pull", {
    ...body,
    ...stream,
    parameters: [as],
    answers: { 200: ref("svc.anyPulled") },
    events: read,
  }),
  same("GET", "_svc/live", { ...stream, parameters: [q, as] }),
  same("POST", "_svc/live", { ...body, ...stream, parameters: [as], events: read }),
  same("POST", "_svc/batch", { ...body, ...writes({ 200: rows }) }),
  same("GET", "{table}", reads(listed, preview)),
  by("POST", ofTable, "Creates rows", {
    ...body,
    ...writes({ 200: written, 201: written }, table, preview),
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
  ...ofRow(`${ofTable}/{id}`, sharedParameter("id")),
  by("POST", ofOperation, "Runs an operation, past its rule", {
    ...body,
    ...writes({ 200: ref("svc.any") }, sharedParameter("name")),
    events: ["operation_run", null],
  }),
  by("GET", ofOperation, "Runs an operation that only reads, past its rule", {
    parameters: [sharedParameter("name")],
    answers: { 200: ref("svc.any") },
    errors: [...reading, 405, 409],
  }),
];

/** The schemas of bodies and answers of these endpoints, and of rows without a table. */
export function dataSchemas(metered: boolean): JsonSchema {
  const row = ref("svc.row");
  const rows = list(row);
  const metering = metered ? meteringMembers : {};
  const answer = (data: JsonSchema) => object({ data, ...(metered && { meta: ref("svc.metering") }) });
  return {
    "svc.row": openObject({}),
    "svc.rows": { anyOf: [row, rows] },
    "svc.any": answer({}),
    "svc.anyRow": answer(row),
    "svc.anyRows": answer(rows),
    "svc.anyWritten": answer({ anyOf: [row, list(nullOr(row)), { type: "null" }] }),
    "svc.anyPage": object({ data: rows, meta: ref("svc.list") }),
    "svc.anyPast": object({ data: rows, meta: openObject(metering) }),
    "svc.anyPulled": object({ data: row, meta: object(metering) }),
    // What stands in an answer in place of a long value, if the request has the header `Svc-Preview`.
    "svc.preview": {
      ...object({ $preview: text, bytes: count }),
      description: "the beginning of a value, and how many bytes it has; of a blob in base64",
    },
  };
}
