import { email, presentedPassword, secret } from "../auth/fields.js";
import { data, type JsonSchema, object, openObject, ref, text } from "../wire/schema.js";
import { type Call, type Documented, documentedPaths, endpointsOf } from "./paths.js";

const session = data(object({ user: ref("svc.tokenUser"), expires_at: text, confirmed_until: text }));
const byPassword = [400, 401, 403, 413, 415, 429, 500, 503] as const;

/**
 * Returns the documentation of the console's page, and of the endpoints of its session (`docs/console.md`), by method
 * and path. `password` is the schema of a password that is being set.
 */
const callsOf = (password: JsonSchema): Readonly<Record<string, Call>> => ({
  "post /admin/api/session": {
    summary: "Opens a session of the console, for pages of the server's own origin",
    takes: openObject({ email, password: presentedPassword }),
    answers: { 200: session },
    errors: byPassword,
  },
  "get /admin/api/session": {
    summary: "The caller's session of the console",
    callers: ["console"],
    answers: { 200: session },
    errors: [401, 403, 500, 503],
  },
  "delete /admin/api/session": {
    summary: "Ends it, and deletes its cookie",
    callers: ["console"],
    answers: { 200: data(object({ revoked: { const: true } })) },
    errors: [401, 403, 500, 503],
  },
  "post /admin/api/session/confirm": {
    summary: "Confirms it by the password, for the next five minutes",
    callers: ["console"],
    takes: openObject({ password: presentedPassword }),
    answers: { 200: session },
    errors: byPassword,
  },
  "post /admin/api/setup": {
    summary: "Makes the first administrator by the link that the server has printed, and opens a session",
    takes: openObject({ token: secret, email, password }),
    answers: { 201: session },
    errors: [400, 403, 409, 413, 415, 500, 503],
  },
  "get /console": {
    summary: "The console's page",
    answers: { 200: "text/html" },
    errors: [403, 404, 500, 503],
  },
  "get /console/": {
    id: "get_console_slash",
    summary: "Leads to the console's page",
    answers: { 307: null },
    errors: [403, 500, 503],
  },
  "get /console/assets/{name}": {
    summary: "What the page loads",
    parameters: [{ name: "name", in: "path", required: true, schema: text }],
    answers: { 200: ["text/javascript", "text/css"] },
    errors: [403, 404, 500, 503],
  },
});

/** Makes the OpenAPI paths of the console. */
export function consolePaths(documented: Documented): JsonSchema {
  const calls = callsOf(documented.newPassword);
  return documentedPaths("console", endpointsOf(calls), { ...documented, cookies: false });
}
