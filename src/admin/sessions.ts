import { longWorkFor } from "../auth/callers/principal.js";
import { deleteEmailChangeOfSession } from "../auth/store/email-change.js";
import { instant } from "../auth/store/instant.js";
import { endSession, sessionsPage, type UsersSession } from "../auth/store/sessions.js";
import { withFacts } from "../http/answer-facts.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { ask, followedBy, run } from "../platform/query.js";
import { data } from "../wire/schema.js";
import { type ListedSession, listedSession, type Revoked, revoked } from "../wire/sessions.js";
import { type AdminEndpoint, administrators, idParameter, readErrors } from "./endpoint.js";
import { type ListedEntry, newestFirst, newestFirstAnswer, newestFirstEndpoint } from "./newest-first.js";
import type { AdminRequest } from "./services.js";

const name = "sessions";

/**
 * GET /admin/api/sessions?user_id=: lists the sessions that have not ended, the newest first
 * (docs/reference/auth.md#administration).
 */
export const getSessionsEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/sessions",
  summary: "Lists the sessions that have not ended",
  callers: administrators,
  ...newestFirstEndpoint(listedSession, "user_id"),
  needs: "session",
  handle: getSessions,
};

async function getSessions({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  const asked = await newestFirst(request, name, ["user_id"], services, caller);
  if (isRefusal(asked)) return asked;
  const { auth, api } = config;
  const page = sessionsPage({
    now: platform.clock.now(),
    accessTokenMs: auth.access_token_ttl_secs * 1000,
    sessionMaxAgeMs: auth.session_max_age_secs * 1000,
    userId: asked.chosen.user_id ?? null,
    after: asked.after,
    limit: asked.limit + 1,
  });
  const found = await ask(platform.database, page, longWorkFor(caller, api));
  return newestFirstAnswer(found.map(placed), asked, name, services, caller);
}

function placed(session: UsersSession): ListedEntry<ListedSession> {
  const { id, userId, kind, createdAtMs, latestAtMs, expiresAtMs } = session;
  const shown = {
    id,
    user_id: userId,
    kind,
    created_at: instant(createdAtMs),
    last_used_at: instant(latestAtMs),
    expires_at: instant(expiresAtMs),
  };
  return { shown, place: [createdAtMs, id] };
}

/**
 * DELETE /admin/api/sessions/{id}: ends a session, so that its next request is refused. If the session has asked to
 * change its user's email address, that change is cancelled.
 */
export const removeSessionEndpoint: AdminEndpoint = {
  method: "DELETE",
  path: "/admin/api/sessions/{id}",
  summary: "Ends a session",
  callers: administrators,
  parameters: [idParameter],
  answers: { 200: data(revoked) },
  errors: [...readErrors, 404],
  events: ["sessions_revoked", null],
  needs: "session",
  handle: removeSession,
};

async function removeSession({ services, id }: AdminRequest): Promise<Response | Refusal> {
  const { platform } = services;
  const end = endSession(id, null, platform.clock.now());
  const userId = await run(platform.database, followedBy(end, deleteEmailChangeOfSession(id, null)));
  return userId === null
    ? new Refusal("not_found", "no such session, or it has ended already")
    : withFacts(json({ data: { revoked: true } satisfies Revoked }), { target: userId });
}
