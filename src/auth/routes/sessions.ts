import { Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { ask, followedBy, run } from "../../platform/query.js";
import { data, list, text } from "../../wire/schema.js";
import { type Revoked, revoked, type UserSession, userSession } from "../../wire/sessions.js";
import { notAUser } from "../callers/not-a-user.js";
import type { IdentifiedRequest } from "../context.js";
import { type AuthEndpoint, users } from "../endpoint.js";
import { endCookies } from "../sessions/cookies.js";
import { deleteEmailChangeOfSession } from "../store/email-change.js";
import { instant } from "../store/instant.js";
import { endSession, type StoredSession, sessionsOf } from "../store/sessions.js";

/** GET /auth/sessions: lists the caller's own sessions that have not ended, the most recently used first. */
export const listSessionsEndpoint: AuthEndpoint = {
  method: "GET",
  path: "/auth/sessions",
  summary: "The own sessions that have not ended",
  callers: users,
  answers: { 200: data(list(userSession)) },
  errors: [401, 403, 503],
  needs: "caller",
  handle: listSessions,
};

async function listSessions({ context, caller, database }: IdentifiedRequest): Promise<Response | Refusal> {
  if (caller.kind !== "user") return notAUser(caller);
  const { auth } = context.config;
  const own = sessionsOf({
    userId: caller.id,
    now: context.platform.clock.now(),
    accessTokenMs: auth.access_token_ttl_secs * 1000,
    sessionMaxAgeMs: auth.session_max_age_secs * 1000,
  });
  const sessions = await ask(database, own);
  return json({ data: sessions.map((session) => sessionOf(session, caller.sessionId)) });
}

function sessionOf(session: StoredSession, current: string): UserSession {
  const { id, kind, createdAtMs, latestAtMs, expiresAtMs } = session;
  return {
    id,
    kind,
    created_at: instant(createdAtMs),
    last_used_at: instant(latestAtMs),
    expires_at: instant(expiresAtMs),
    current: id === current,
  };
}

const noSuchSession = new Refusal("not_found", "no such session");

/**
 * DELETE /auth/sessions/{id}: ends a session of the caller's own, so that its next request is refused. If that session
 * has asked to change the email address, the change is cancelled.
 */
export const endOwnSessionEndpoint: AuthEndpoint = {
  method: "DELETE",
  path: "/auth/sessions/{id}",
  summary: "Ends one of the own sessions",
  callers: users,
  parameters: [{ name: "id", in: "path", required: true, schema: text }],
  answers: { 200: data(revoked) },
  errors: [401, 403, 404, 503],
  events: ["session_ended", null],
  needs: "caller",
  handle: endOwnSession,
};

async function endOwnSession({ context, caller, database, name: id }: IdentifiedRequest): Promise<Response | Refusal> {
  if (caller.kind !== "user") return notAUser(caller);
  // No stored id has a NUL character, and a statement's parameter must not have one.
  if (id.includes("\0")) return noSuchSession;
  const end = endSession(id, caller.id, context.platform.clock.now());
  const userId = await run(database, followedBy(end, deleteEmailChangeOfSession(id, caller.id)));
  if (userId === null) return noSuchSession;
  const answer = json({ data: { revoked: true } satisfies Revoked });
  return id === caller.sessionId ? endCookies(context.config.auth, answer) : answer;
}
