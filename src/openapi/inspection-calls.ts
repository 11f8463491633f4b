import { count, data, flag, type JsonSchema, list, nullOr, object, text } from "../wire/schema.js";
import type { OperationSource } from "./operation.js";
import type { Call } from "./paths.js";

const callers: OperationSource["callers"] = ["accessToken", "cookie", "apiKey"];
const reading = [400, 401, 403, 500, 503] as const;
const query = (name: string, schema: JsonSchema) => ({ name, in: "query", schema });
const columnType = { enum: ["integer", "real", "text", "boolean", "json", "blob"] };

/**
 * Makes the parameters, the answer and the errors of an endpoint that lists entries, the newest first. `schema` is that
 * of one entry, `parameters` are the names of the parameters beside `limit` and `cursor`.
 */
const newestOf = (schema: JsonSchema, ...parameters: readonly string[]) => ({
  parameters: [...parameters, "limit", "cursor"].map((name) => query(name, text)),
  answers: {
    200: object({ data: list(schema), meta: object({ limit: count, next_cursor: text }, "next_cursor") }),
  },
  errors: reading,
});
const instant = { ...text, format: "date-time" };
const placedText = nullOr(object({ text, line: nullOr(count), column: nullOr(count) }));
const setVariable = object({ variable: text, is_set: flag });

const mail = {
  id: text,
  purpose: text,
  to: text,
  created_at: instant,
  state: { enum: ["waiting", "sent", "failed", "dropped"] },
  attempts: count,
  next_attempt_at: nullOr(instant),
  ended_at: nullOr(instant),
  last_error: nullOr(text),
  link: nullOr(text),
};

const session = {
  id: text,
  user_id: text,
  kind: { enum: ["tokens", "console"] },
  created_at: instant,
  last_used_at: instant,
  expires_at: instant,
};

const answeredRequest = {
  id: text,
  at: instant,
  method: text,
  route: text,
  status: count,
  ms: { type: "number", minimum: 0 },
  principal: nullOr(object({ kind: { enum: ["anonymous", "user", "key"] }, id: nullOr(text) })),
  rows_read: nullOr(count),
  rows_written: nullOr(count),
  rows_returned: nullOr(count),
  rule: nullOr(text),
};

const columnInForce = object({
  name: text,
  type: columnType,
  not_null: flag,
  primary_key: flag,
  default: { anyOf: [object({ sql: text }), object({ value: {} }), { type: "null" }] },
  check: nullOr(text),
  managed: nullOr(text),
  references: nullOr(object({ table: text, column: text, on_delete: text })),
  generated: flag,
});

const tableInForce = object({
  name: text,
  kind: { enum: ["table", "virtual"] },
  primary_key: list(text),
  columns: list(columnInForce),
  unique: list(list(text)),
  indexes: list(object({ columns: list(text), unique: flag, where: nullOr(text) })),
  search: list(text),
  history: text,
  triggers: list(object({ name: text, sql: text })),
  rows_readable: flag,
  rows_writable: flag,
  rules: object({
    read: placedText,
    create: placedText,
    update: placedText,
    delete: placedText,
    history: placedText,
  }),
  column_rules: {
    type: "object",
    additionalProperties: object({ read: placedText, write: placedText }),
  },
});

const schemaInForce = object({
  hash: text,
  version: count,
  text,
  file_text: nullOr(text),
  tables: list(tableInForce),
  conditions: list(object({ name: text, text, line: nullOr(count), column: nullOr(count) })),
});

const settingValue = {
  anyOf: [
    text,
    { type: "number" },
    flag,
    list(text),
    setVariable,
    object({ is_set: flag }),
    { type: "object" },
  ],
};
const settingsInForce = object({
  settings: { type: "object", additionalProperties: { type: "object", additionalProperties: settingValue } },
  providers: list(object({ provider: text, callback_url: text, has_credentials: flag })),
  release: text,
  runtime: { enum: ["node", "worker"] },
});

/**
 * The documentation of the endpoints by which administrators look at the server: its schema, sessions, mails, requests
 * and settings.
 */
export const inspectionCalls: Readonly<Record<string, Call>> = {
  "get /admin/api/schema": {
    summary: "The schema in force, and its rules",
    callers,
    answers: { 200: data(schemaInForce) },
    errors: reading,
  },
  "get /admin/api/sessions": {
    summary: "Lists the sessions that have not ended",
    callers,
    ...newestOf(object(session), "user_id"),
  },
  "delete /admin/api/sessions/{id}": {
    summary: "Ends a session",
    callers,
    parameters: [{ name: "id", in: "path", required: true, schema: text }],
    answers: { 200: data(object({ revoked: { const: true } })) },
    errors: [...reading, 404],
  },
  "get /admin/api/outbox": {
    summary: "Lists mails that wait, and those that have ended lately",
    callers,
    ...newestOf(object(mail, "link"), "state"),
  },
  "get /admin/api/requests": {
    summary: "The last requests that this process has answered",
    callers,
    parameters: ["who", "status", "route", "limit"].map((name) => query(name, text)),
    answers: {
      200: object({
        data: list(object(answeredRequest)),
        meta: object({ scope: { enum: ["process", "isolate"] } }),
      }),
    },
    errors: reading,
  },
  "get /admin/api/settings": {
    summary: "The settings in force, without secrets",
    callers,
    answers: { 200: data(settingsInForce) },
    errors: [401, 403, 500, 503],
  },
};
