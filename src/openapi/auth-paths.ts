import {
  codeVerifier,
  email,
  newPassword,
  presentedPassword,
  refreshToken,
  secret,
  userId,
} from "./auth-fields.js";
import type { JsonSchema } from "./column-schema.js";
import {
  count,
  data,
  flag,
  list,
  nullOr,
  type OperationSource,
  object,
  openObject,
  ref,
  role,
  text,
} from "./operation.js";
import { type Call, documentedPaths } from "./paths.js";

const tokens = { 200: ref("svc.tokens") };
const accepted = { 202: data(object({ accepted: { const: true } })) };
const bodyErrors = [400, 403, 413, 415, 503] as const;
const throttled = [...bodyErrors, 401, 429] as const;
const user: OperationSource["callers"] = ["accessToken", "cookie"];
const key: OperationSource["callers"] = ["apiKey"];
const pageParameter = { name: "name", in: "path", required: true, schema: text };
const provider = {
  name: "provider",
  in: "path",
  required: true,
  schema: { enum: ["google", "apple", "github"] },
};

/**
 * Returns the documentation of the endpoints under `/auth` (`docs/reference/auth.md`), by method and path. `password`
 * is the schema of a password that is being set.
 */
const calls = (password: JsonSchema): Readonly<Record<string, Call>> => ({
  "post /auth/register": {
    summary: "Creates a user of role user, and signs in unless the address has to be confirmed first",
    takes: openObject({ email, password }),
    answers: {
      201: ref("svc.tokens"),
      202: data(
        object({
          verification_required: { const: true },
          user: ref("svc.tokenUser"),
          verification_expires_in: count,
        }),
      ),
    },
    errors: [...bodyErrors, 409, 429],
  },
  "post /auth/login": {
    summary: "Signs in",
    takes: openObject({ email, password: presentedPassword }),
    answers: tokens,
    errors: throttled,
  },
  "post /auth/refresh": {
    summary: "Rotates a refresh token, of the body or the cookie",
    takes: openObject({ refresh_token: refreshToken }, "refresh_token"),
    bodyIsOptional: true,
    answers: tokens,
    errors: [...bodyErrors, 401],
  },
  "post /auth/logout": {
    summary: "Ends the session of a refresh token",
    takes: openObject({ refresh_token: refreshToken }, "refresh_token"),
    bodyIsOptional: true,
    answers: { 200: data(object({ revoked: { const: true } })) },
    errors: [...bodyErrors, 401],
  },
  "get /auth/me": {
    summary: "The user who calls",
    callers: user,
    answers: { 200: data(object({ user: ref("svc.user") })) },
    errors: [401, 403, 503],
  },
  "delete /auth/me": {
    summary: "Deletes the own account, and what refers to it as foreign keys say",
    callers: user,
    takes: openObject({ password: nullOr(presentedPassword) }, "password"),
    answers: { 200: data(object({ deleted: { const: true } })) },
    errors: [...throttled, 409],
  },
  "get /auth/sessions": {
    summary: "The own sessions that have not ended",
    callers: user,
    answers: {
      200: data(
        list(
          object({
            id: text,
            kind: { enum: ["tokens", "console"] },
            created_at: text,
            last_used_at: text,
            expires_at: text,
            current: flag,
          }),
        ),
      ),
    },
    errors: [401, 403, 503],
  },
  "delete /auth/sessions/{id}": {
    summary: "Ends one of the own sessions",
    callers: user,
    parameters: [{ name: "id", in: "path", required: true, schema: text }],
    answers: { 200: data(object({ revoked: { const: true } })) },
    errors: [401, 403, 404, 503],
  },
  "post /auth/email": {
    summary: "Mails a link that changes the own address",
    callers: user,
    takes: openObject({ email, password: nullOr(presentedPassword) }, "password"),
    answers: { 202: data(object({ accepted: { const: true }, verification_expires_in: count })) },
    errors: throttled,
  },
  "post /auth/email/confirm": {
    summary: "Changes the address to the one that the link was mailed to",
    takes: openObject({ token: secret }),
    answers: { 200: data(object({ email_updated: { const: true } })) },
    errors: bodyErrors,
  },
  "post /auth/password": {
    summary: "Replaces the password, and ends every session",
    callers: user,
    takes: openObject({ current_password: presentedPassword, password }),
    answers: { 200: data(object({ revoked_sessions: count })) },
    errors: throttled,
  },
  "get /auth/oauth/providers": {
    summary: "Sign-in providers that are offered",
    answers: { 200: data(list(object({ provider: provider.schema, callback_url: text }))) },
    errors: [403, 503],
  },
  "post /auth/oauth/authorize": {
    summary: "Begins a social sign-in",
    takes: openObject({
      provider: provider.schema,
      redirect_to: text,
      code_challenge: secret,
      code_challenge_method: { const: "S256" },
    }),
    answers: { 200: data(object({ authorization_url: text, expires_in: count })) },
    errors: bodyErrors,
  },
  "get /auth/oauth/callback/{provider}": {
    summary: "Where Google and GitHub send the browser back to",
    parameters: [provider],
    answers: { 303: null },
    errors: [400, 403, 404, 405, 503],
  },
  "post /auth/oauth/callback/{provider}": {
    summary: "Where Apple sends the browser back to",
    parameters: [provider],
    answers: { 303: null },
    errors: [400, 403, 404, 405, 413, 415, 503],
  },
  "post /auth/oauth/exchange": {
    summary: "Tokens for the code of a callback",
    takes: openObject({ code: secret, code_verifier: codeVerifier }),
    answers: tokens,
    errors: bodyErrors,
  },
  "post /auth/users/import": {
    summary: "Imports identities, all or none",
    callers: key,
    takes: openObject({
      users: {
        ...list(
          object(
            {
              id: userId,
              email,
              role: { const: "user" },
              email_verified: flag,
              disabled: flag,
              password_hash: nullOr(text),
            },
            "role",
            "email_verified",
            "disabled",
            "password_hash",
          ),
        ),
        minItems: 1,
        maxItems: 500,
      },
    }),
    answers: { 200: data(object({ imported: count })) },
    errors: [...bodyErrors, 401, 409],
  },
  "post /auth/users/invite": {
    summary: "Mails an invitation",
    callers: key,
    takes: openObject({ email, role: nullOr(role), redirect_to: nullOr(text) }, "role", "redirect_to"),
    answers: {
      201: data(object({ email: text, role, existing_user: flag, expires_in: nullOr(count) })),
    },
    errors: [...throttled, 409],
  },
  "post /auth/invitations/accept": {
    summary: "Accepts an invitation: sets the password, and signs in",
    takes: openObject({ token: secret, password }),
    answers: tokens,
    errors: bodyErrors,
  },
  "post /auth/email-verification/resend": {
    summary: "Mails the link that confirms an address once more",
    takes: openObject({ email }),
    answers: accepted,
    errors: [...bodyErrors, 429],
  },
  "post /auth/email-verification/confirm": {
    summary: "Confirms an address, and signs in",
    takes: openObject({ token: secret }),
    answers: tokens,
    errors: bodyErrors,
  },
  "post /auth/password-reset/request": {
    summary: "Mails a link that sets a password",
    takes: openObject({ email }),
    answers: accepted,
    errors: [...bodyErrors, 429],
  },
  "post /auth/password-reset/confirm": {
    summary: "Sets a password, and ends every session",
    takes: openObject({ token: secret, password }),
    answers: { 200: data(object({ password_updated: { const: true } })) },
    errors: bodyErrors,
  },
  "get /auth/pages/{name}": {
    summary: "The page of a link, where none is configured",
    parameters: [pageParameter, { name: "token", in: "query", required: true, schema: text }],
    answers: { 200: "text/html", 400: "text/html" },
    errors: [403, 404, 503],
  },
  "post /auth/pages/{name}": {
    summary: "Its form",
    parameters: [pageParameter],
    body: { "application/x-www-form-urlencoded": object({ token: text, password: text }, "password") },
    answers: { 200: "text/html", 400: "text/html" },
    errors: [400, 403, 404, 413, 415, 503],
  },
});

/**
 * Makes the OpenAPI paths under `/auth`. `cookies`: whether cookie mode is on. `passwordLengthMin` is in characters,
 * for new passwords.
 */
export const authPaths = (cookies: boolean, passwordLengthMin: number): JsonSchema =>
  documentedPaths("auth", calls(newPassword(passwordLengthMin)), cookies);
