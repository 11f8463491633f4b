import { createServiceKey } from "../auth/accounts/administration.js";
import { principalOf } from "../auth/callers/principal.js";
import { revokeServiceKey } from "../auth/store/service-keys.js";
import { withFacts } from "../http/answer-facts.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { run } from "../platform/query.js";
import { type ApiKey, type MadeApiKey, madeApiKey, someApiKey } from "../wire/keys.js";
import { data, list, nullOr, object, openObject, text } from "../wire/schema.js";
import { type AdminEndpoint, changeErrors, idParameter, people, submitErrors, withConsole } from "./endpoint.js";
import type { AdminRequest } from "./services.js";
import { listSystemRows, systemList, systemListOf } from "./system-list.js";

const serviceKeys = systemList<ApiKey>("_service_keys", {
  id: "text",
  name: "text",
  scopes: "json",
  created_at: "text",
  created_by: "text",
  expires_at: "text",
  revoked_at: "text",
});

/** GET /admin/api/service-keys: lists the API keys without their secrets, of which only hashes are stored. */
export const getServiceKeysEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/service-keys",
  summary: "Lists API keys, without their secrets",
  callers: withConsole,
  ...systemListOf(someApiKey),
  needs: "session",
  handle: getServiceKeys,
};

function getServiceKeys({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  return listSystemRows(request, serviceKeys, services, caller);
}

/**
 * POST /admin/api/service-keys with `name, scopes[], expires_at?`: creates an API key. The answer shows the secret,
 * which cannot be shown again. API keys may not create keys.
 */
export const postServiceKeyEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/service-keys",
  summary: "Creates an API key, and shows its secret once",
  callers: people,
  takes: openObject({ name: text, scopes: list(text), expires_at: nullOr(text) }, "expires_at"),
  answers: { 201: object({ data: madeApiKey, meta: object({ warnings: list(text) }) }, "meta") },
  errors: submitErrors,
  events: ["key_created", null],
  needs: "password",
  handle: postServiceKey,
};

async function postServiceKey({ body: sent, services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform } = services;
  if (caller.kind === "key") return new Refusal("forbidden", "a key cannot make keys");
  const body = await sent.jsonObject();
  if (isRefusal(body)) return body;
  const { name, scopes, expires_at: expiresAt = null } = body;
  if (typeof name !== "string") return badRequest("name: expected a string");
  if (!isTextList(scopes)) return badRequest("scopes: expected a list of strings");
  if (expiresAt !== null && typeof expiresAt !== "string") return badRequest("expires_at: expected a string");
  const key = await createServiceKey(platform, { name, scopes, expiresAt, createdBy: principalOf(caller) });
  if (isRefusal(key)) return key;
  const { id, secret, warnings } = key;
  const made: MadeApiKey = { id, name, scopes, expires_at: key.expiresAt, key: secret };
  const answer = json({ data: made, ...(warnings.length === 0 ? {} : { meta: { warnings } }) }, 201);
  return withFacts(answer, { target: id });
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** DELETE /admin/api/service-keys/{id}: revokes an API key. Requests with the key are refused from then on. */
export const removeServiceKeyEndpoint: AdminEndpoint = {
  method: "DELETE",
  path: "/admin/api/service-keys/{id}",
  summary: "Revokes an API key",
  callers: withConsole,
  parameters: [idParameter],
  answers: { 200: data(object({ id: text })) },
  errors: changeErrors,
  events: ["key_revoked", null],
  needs: "password",
  handle: removeServiceKey,
};

async function removeServiceKey({ services, id }: AdminRequest): Promise<Response | Refusal> {
  const { platform } = services;
  const isRevoked = await run(platform.database, revokeServiceKey(id, platform.clock.now()));
  return isRevoked
    ? withFacts(json({ data: { id } }), { target: id })
    : new Refusal("not_found", "no such key, or it is revoked already");
}
