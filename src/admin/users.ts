import { createUser } from "../auth/accounts/administration.js";
import { deletionRefusal, lastAdmin, userDeletion } from "../auth/accounts/user-deletion.js";
import { userOf } from "../auth/accounts/user-of.js";
import { type Caller, longWorkFor, principalOf } from "../auth/callers/principal.js";
import { email } from "../auth/fields.js";
import { inviteUser } from "../auth/routes/invitations.js";
import { deleteEmailChanges, deleteEveryEmailChange } from "../auth/store/email-change.js";
import { deleteCodes, deleteEveryCode } from "../auth/store/oauth.js";
import { revokeEverySession, revokeSessions } from "../auth/store/sessions.js";
import { changeUser, userById } from "../auth/store/users.js";
import { withFacts } from "../http/answer-facts.js";
import { unknownMember } from "../http/body.js";
import { badRequest, isRefusal, methodNotAllowed, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import type { SecurityEvent } from "../http/security-event.js";
import { ask, effect, followedBy, run, together } from "../platform/query.js";
import { usersTable } from "../sqlite/names.js";
import { data, flag, nullOr, object, openObject, ref, role, text } from "../wire/schema.js";
import { type ListedUser, type RevokedSessions, revokedSessions, sentInvitation, userAnswer } from "../wire/users.js";
import { type AdminEndpoint, changeErrors, idParameter, readErrors, submitErrors, withConsole } from "./endpoint.js";
import type { AdminRequest, AdminServices } from "./services.js";
import { listSystemRows, systemList, systemListOf } from "./system-list.js";

const users = systemList<ListedUser>(usersTable, {
  id: "text",
  email: "text",
  role: "text",
  disabled: "boolean",
  email_verified: "boolean",
  created_at: "text",
  created_by: "text",
});

/** GET /admin/api/users: lists the users (docs/reference/auth.md#administration). */
export const getUsersEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/users",
  summary: "Lists users",
  callers: withConsole,
  ...systemListOf(ref("svc.someUser")),
  needs: "session",
  handle: getUsers,
};

function getUsers({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  return listSystemRows(request, users, services, caller);
}

/**
 * POST /admin/api/users with `email, password, role?`: creates a user. The address counts as verified. An API key
 * cannot create admins.
 */
export const postUserEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/users",
  summary: "Creates a user",
  callers: withConsole,
  takes: (password) => openObject({ email, password, role }, "role"),
  answers: { 201: userAnswer },
  errors: submitErrors,
  events: ["user_created", null],
  needs: "password",
  handle: postUser,
};

async function postUser({ body: sent, services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  const body = await sent.jsonObject();
  if (isRefusal(body)) return body;
  const { email, password, role = "user" } = body;
  if (typeof email !== "string") return badRequest("email: expected a string");
  if (typeof password !== "string") return badRequest("password: expected a string");
  if (typeof role !== "string") return badRequest("role: expected user or admin");
  if (mayNotMake(role, caller)) return noAdminsByKey;
  const passwordLengthMin = config.auth.password_min_length;
  const createdBy = principalOf(caller);
  const created = await createUser(platform, { email, role, password, passwordLengthMin, createdBy });
  if (isRefusal(created)) return created;
  const user = await ask(platform.database, userById(created.id));
  return withFacts(json({ data: { user: userOf(user!) } }, 201), { target: created.id });
}

/**
 * POST /admin/api/users/invite with `email, role?, redirect_to?`: invites a user by mail, exactly as POST
 * /auth/users/invite does.
 */
export const postInvitationEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/users/invite",
  routedAs: "/admin/api/users/{id}",
  summary: "Invites a user",
  callers: withConsole,
  takes: openObject({ email, role, redirect_to: nullOr(text) }, "role", "redirect_to"),
  answers: { 201: data(sentInvitation) },
  errors: [...submitErrors, 429],
  events: ["invitation_sent", null],
  needs: "password",
  handle: postInvitation,
};

async function postInvitation({ body, services, id, caller }: AdminRequest): Promise<Response | Refusal> {
  return id === "invite" ? inviteUser({ body, context: services.auth, caller }) : methodNotAllowed("PATCH", "DELETE");
}

/**
 * PATCH /admin/api/users/{id} with `disabled?, role?`: changes a user. Disabling ends every session of the user. An API
 * key cannot make users admins.
 */
export const patchUserEndpoint: AdminEndpoint = {
  method: "PATCH",
  path: "/admin/api/users/{id}",
  summary: "Disables, enables, promotes or demotes a user",
  callers: withConsole,
  parameters: [idParameter],
  takes: object({ disabled: flag, role }, "disabled", "role"),
  answers: { 200: userAnswer },
  errors: submitErrors,
  // The handler names the event itself, depending on what it has changed.
  events: [null, null],
  needs: "password",
  handle: patchUser,
};

async function patchUser({ body: sent, services, id, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform } = services;
  const body = await sent.jsonObject();
  if (isRefusal(body)) return body;
  const { disabled = null, role = null } = body;
  const unknown = unknownMember(body, ["disabled", "role"]);
  if (unknown !== undefined) return badRequest(`unknown field ${JSON.stringify(unknown)}`);
  if (disabled === null && role === null) return badRequest("expected disabled, role or both");
  if (disabled !== null && typeof disabled !== "boolean") return badRequest("disabled: expected true or false");
  if (role !== null && role !== "user" && role !== "admin") return badRequest("role: expected user or admin");
  if (mayNotMake(role, caller)) return noAdminsByKey;
  // An API key may not enable a disabled administrator either: that would be as good as making one.
  if (disabled === false && caller.kind === "key" && (await isAdmin(services, id))) return noAdminsByKey;
  const [by, now] = [principalOf(caller), platform.clock.now()];
  const user = await run(platform.database, changeUser({ id, disabled, role, by, now }));
  if (user === null) return missingOrLast(services, id);
  return withFacts(json({ data: { user: userOf(user) } }), { event: changeOf(disabled, role), target: id });
}

/**
 * Chooses the security event that the request log has for a change of a user's role or `disabled`. For a change of both
 * it is the first of these that applies: becoming an administrator, being disabled, losing the role `admin`.
 */
function changeOf(disabled: boolean | null, role: "user" | "admin" | null): SecurityEvent {
  if (role === "admin") return "user_promoted";
  if (disabled === true) return "user_disabled";
  return role === "user" ? "user_demoted" : "user_enabled";
}

/**
 * DELETE /admin/api/users/{id}: deletes a user and the user's sessions. Rows that refer to the user are deleted or
 * changed, or keep the user from being deleted (409), as their foreign keys say (`ON DELETE`). The last administrator
 * who can sign in is not deleted either (409).
 */
export const removeUserEndpoint: AdminEndpoint = {
  method: "DELETE",
  path: "/admin/api/users/{id}",
  summary: "Deletes a user, and what refers to them as foreign keys say",
  callers: withConsole,
  parameters: [idParameter],
  answers: { 200: data(object({ id: text })) },
  errors: changeErrors,
  events: ["user_deleted", null],
  needs: "password",
  handle: removeUser,
};

async function removeUser({ services, id, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  try {
    const deletion = userDeletion({ id, by: caller, now: platform.clock.now(), owner: null });
    const isDeleted = await run(platform.database, deletion, longWorkFor(caller, config.api));
    if (!isDeleted) return missingOrLast(services, id);
    return withFacts(json({ data: { id } }), { target: id });
  } catch (error) {
    const refusal = deletionRefusal(error);
    if (refusal === null) throw error;
    return refusal;
  }
}

/**
 * POST /admin/api/users/{id}/revoke-sessions: ends every session of a user. It also cancels the user's codes of social
 * sign-ins that were not exchanged for tokens yet, and a change of the email address that was not confirmed yet.
 */
export const revokeUserSessionsEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/users/{id}/revoke-sessions",
  summary: "Ends every session of a user",
  callers: withConsole,
  parameters: [idParameter],
  answers: { 200: data(revokedSessions) },
  errors: changeErrors,
  events: ["sessions_revoked", null],
  needs: "session",
  handle: revokeUserSessions,
};

async function revokeUserSessions({ services, id }: AdminRequest): Promise<Response | Refusal> {
  const { platform } = services;
  const query = together(
    revokeSessions(id, platform.clock.now()),
    userById(id),
    effect(deleteCodes(id), deleteEmailChanges(id)),
  );
  const [count, user] = await run(platform.database, query);
  return user === null ? noSuchUser : withFacts(endedSessions(count), { target: id });
}

/**
 * POST /admin/api/revoke-sessions: ends every session of everybody, the caller's own included. It also cancels all
 * codes of social sign-ins that were not exchanged for tokens yet, and all changes of email addresses that were not
 * confirmed yet.
 */
export const revokeAllSessionsEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/revoke-sessions",
  summary: "Ends every session of everybody, the caller's own included",
  callers: withConsole,
  answers: { 200: data(revokedSessions) },
  errors: readErrors,
  events: ["sessions_revoked", null],
  needs: "password",
  handle: revokeAllSessions,
};

async function revokeAllSessions({ services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  const revoke = revokeEverySession(platform.clock.now());
  const query = followedBy(revoke, deleteEveryCode(), deleteEveryEmailChange());
  // The statements may take as long as those of an API key, whoever the caller is, so that the request does not fail
  // because there are many sessions.
  const long = { ...longWorkFor(caller, config.api), withinMs: config.api.key_deadline_ms };
  return endedSessions(await run(platform.database, query, long));
}

const endedSessions = (count: number) => json({ data: { revoked_sessions: count } satisfies RevokedSessions });

async function isAdmin({ platform }: AdminServices, id: string): Promise<boolean> {
  const user = await ask(platform.database, userById(id));
  return user?.role === "admin";
}

const mayNotMake = (role: string | null, caller: Caller): boolean => role === "admin" && caller.kind === "key";
const noAdminsByKey = new Refusal("forbidden", "a key cannot make admins");
const noSuchUser = new Refusal("not_found", "no such user");

async function missingOrLast({ platform }: AdminServices, id: string): Promise<Refusal> {
  const user = await ask(platform.database, userById(id));
  return user === null ? noSuchUser : lastAdmin;
}
