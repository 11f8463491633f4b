import { email } from "../auth/fields.js";
import type { Config } from "../project/config.js";
import {
  count,
  data,
  flag,
  type JsonSchema,
  list,
  nullOr,
  object,
  openObject,
  ref,
  role,
  text,
} from "../wire/schema.js";
import { explainCall } from "./explain-path.js";
import { inspectionCalls } from "./inspection-calls.js";
import type { OperationSource } from "./operation.js";
import { type Call, type Documented, documentedPaths, endpointsOf } from "./paths.js";

const elsewhere: OperationSource["callers"] = ["accessToken", "cookie", "apiKey"];
const reading = [400, 401, 403, 500, 503] as const;
const changing = [...reading, 404, 409] as const;
const sending = [...changing, 413, 415] as const;
const query = (name: string, schema: JsonSchema) => ({ name, in: "query", schema });
const idParameter = { name: "id", in: "path", required: true, schema: text };
const yaml = { "application/yaml": text };
const columnType = { enum: ["integer", "real", "text", "boolean", "json", "blob"] };
const steps = list(openObject({ safe: flag }));
const key = { id: text, name: text, scopes: list(text), expires_at: nullOr(text) };

/**
 * Makes the parameters, the answer and the errors of an endpoint that lists rows of a table of the server's own, such
 * as users. Such a list takes the same parameters as the list of a project's table. `schema` is that of one row.
 */
const listOf = (schema: JsonSchema) => ({
  parameters: ["where", "filter"]
    .map((name) => ({ ...query(name, { type: "object" }), style: "deepObject", explode: true }))
    .concat(["select", "sort", "limit", "offset", "cursor"].map((name) => query(name, text)) as never[]),
  answers: { 200: object({ data: list(schema), meta: ref("svc.systemList") }) },
  errors: reading,
});

/**
 * Returns the documentation of the endpoints under `/admin/api`, and of others for administrators
 * (`docs/reference/http.md#endpoints`), by method and path. `password` is the schema of a password that is being set,
 * `callers` are the credentials that the endpoints accept.
 */
const callsOf = (
  password: JsonSchema,
  callers: OperationSource["callers"],
): Readonly<Record<string, Call>> => ({
  "post /admin/api/schema/plan": {
    summary: "The steps from the schema in force to the one of the body",
    callers,
    body: yaml,
    bodyIsOptional: true,
    answers: { 200: data(object({ base: nullOr(text), hash: text, steps })) },
    errors: sending,
  },
  "post /admin/api/schema/apply": {
    summary: "Carries them out",
    callers,
    parameters: [query("base", text), query("allow_destructive", { enum: ["true", "false"] })],
    body: yaml,
    bodyIsOptional: true,
    answers: { 200: data(object({ version: count, hash: text, steps })) },
    errors: sending,
  },
  "get /admin/api/users": { summary: "Lists users", callers, ...listOf(ref("svc.someUser")) },
  "post /admin/api/users": {
    summary: "Creates a user",
    callers,
    takes: openObject({ email, password, role }, "role"),
    answers: { 201: data(object({ user: ref("svc.user") })) },
    errors: sending,
  },
  "post /admin/api/users/invite": {
    summary: "Invites a user",
    callers,
    takes: openObject({ email, role, redirect_to: nullOr(text) }, "role", "redirect_to"),
    answers: {
      201: data(object({ email: text, role, existing_user: flag, expires_in: nullOr(count) })),
    },
    errors: [...sending, 429],
  },
  "patch /admin/api/users/{id}": {
    summary: "Disables, enables, promotes or demotes a user",
    callers,
    parameters: [idParameter],
    takes: object({ disabled: flag, role }, "disabled", "role"),
    answers: { 200: data(object({ user: ref("svc.user") })) },
    errors: sending,
  },
  "delete /admin/api/users/{id}": {
    summary: "Deletes a user, and what refers to them as foreign keys say",
    callers,
    parameters: [idParameter],
    answers: { 200: data(object({ id: text })) },
    errors: changing,
  },
  "post /admin/api/users/{id}/revoke-sessions": {
    summary: "Ends every session of a user",
    callers,
    parameters: [idParameter],
    answers: { 200: data(object({ revoked_sessions: count })) },
    errors: changing,
  },
  "post /admin/api/revoke-sessions": {
    summary: "Ends every session of everybody, the caller's own included",
    callers,
    answers: { 200: data(object({ revoked_sessions: count })) },
    errors: reading,
  },
  "get /admin/api/service-keys": {
    summary: "Lists API keys, without their secrets",
    callers,
    ...listOf(
      object(
        { ...key, created_at: text, created_by: nullOr(text), revoked_at: nullOr(text) },
        ...Object.keys(key),
        "created_at",
        "created_by",
        "revoked_at",
      ),
    ),
  },
  "post /admin/api/service-keys": {
    summary: "Creates an API key, and shows its secret once",
    callers: callers.filter((caller) => caller !== "apiKey"),
    takes: openObject({ name: text, scopes: list(text), expires_at: nullOr(text) }, "expires_at"),
    answers: {
      201: object({ data: object({ ...key, key: text }), meta: object({ warnings: list(text) }) }, "meta"),
    },
    errors: sending,
  },
  "delete /admin/api/service-keys/{id}": {
    summary: "Revokes an API key",
    callers,
    parameters: [idParameter],
    answers: { 200: data(object({ id: text })) },
    errors: changing,
  },
  "get /admin/api/usage": {
    summary: "Sums of receipts",
    callers,
    parameters: [
      query("from", text),
      query("to", text),
      query("group_by", { enum: ["table", "principal", "day"], default: "table" }),
    ],
    answers: {
      200: object({
        data: list(
          object({
            key: nullOr(text),
            requests: count,
            rows_read: count,
            rows_written: count,
            rows_returned: count,
            unknown_reads: count,
          }),
        ),
        meta: object({ gaps: list(object({ at: text, reason: text, attempts_max: count })) }),
      }),
    },
    errors: reading,
  },
  "get /admin/api/operations": {
    summary: "The operations of the schema in force",
    callers,
    answers: {
      200: data(
        list(
          object({
            name: text,
            params: list(
              object({ name: text, type: columnType, nullable: flag, required: flag, check: nullOr(text) }),
            ),
            allow: nullOr(text),
            reads_only: flag,
            returns: { enum: ["one", "many", "none"] },
            columns: list(object({ name: text, type: columnType })),
            steps: list(text),
            problems: list(text),
          }),
        ),
      ),
    },
    errors: [401, 403, 500, 503],
  },
  "post /admin/api/explain": { ...explainCall, callers: callers.filter((by) => by !== "apiKey") },
  "get /metrics": {
    summary: "Prometheus' text format",
    callers: elsewhere,
    answers: { 200: "text/plain" },
    errors: [401, 403, 500, 503],
  },
  "get /openapi.json": {
    summary: "This document",
    callers: elsewhere,
    answers: { 200: { type: "object" } },
    errors: [401, 403, 500, 503],
  },
  "get /health": {
    summary: "Whether the database answers",
    answers: { 200: object({ status: { const: "ok" } }) },
    errors: [403, 503],
  },
});

/**
 * Makes the OpenAPI paths for administrators. The settings (of svc.toml) say whether everybody may read the OpenAPI
 * document, and whether the console is on.
 */
export function adminPaths(
  documented: Documented,
  { api, console }: Pick<Config, "api" | "console">,
): JsonSchema {
  const callers = console.enabled ? (["console", ...elsewhere] as const) : elsewhere;
  const calls = callsOf(documented.newPassword, callers);
  const document = calls["get /openapi.json"]!;
  const all = {
    ...calls,
    ...inspectionCalls,
    "get /openapi.json": api.public_openapi
      ? { ...document, callers: [...elsewhere, "anybody" as const] }
      : document,
  };
  return documentedPaths("admin", endpointsOf(all), documented);
}
