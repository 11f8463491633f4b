import { longWorkFor } from "../auth/principal.js";
import { listSessions, revokeSession } from "../auth/store/sessions.js";
import { tell } from "../http/answer-facts.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import type { ResultValue } from "../platform/database.js";
import { newestFirst, newestFirstAnswer } from "./newest-first.js";
import type { AdminRequest } from "./services.js";

const name = "sessions";

/** GET /admin/api/sessions?user_id=: the sessions that have not ended, the newest first (docs/reference/auth.md#administration) */
export async function getSessions({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  const asked = await newestFirst(request, name, ["user_id"], services, caller);
  if (isRefusal(asked)) return asked;
  const { auth, api } = config;
  const statement = listSessions({
    now: platform.clock.now(),
    sessionMaxAgeMs: auth.session_max_age_secs * 1000,
    refreshTokenMs: auth.refresh_token_ttl_secs * 1000,
    userId: asked.chosen.user_id ?? null,
    after: asked.after,
    limit: asked.limit + 1,
  });
  const [found] = await platform.database.query([statement], longWorkFor(caller, api));
  return newestFirstAnswer(found!.rows.map(placed), asked, name, services, caller);
}

function placed([id, userId, createdAt, usedAt, expiresAt]: readonly ResultValue[]) {
  const shown = {
    id,
    user_id: userId,
    kind: "tokens",
    created_at: instant(createdAt),
    last_used_at: instant(usedAt),
    expires_at: instant(expiresAt),
  };
  return { shown, place: [createdAt as number, id as string] } as const;
}

const instant = (ms: ResultValue | undefined) => new Date(ms as number).toISOString();

/** DELETE /admin/api/sessions/{id}: ends a session, with the next request. */
export async function removeSession({ services, id }: AdminRequest): Promise<Response | Refusal> {
  const { platform } = services;
  const [revoked] = await platform.database.batch([revokeSession(id, platform.clock.now())]);
  const row = revoked!.rows[0];
  return row === undefined
    ? new Refusal("not_found", "no such session, or it has ended already")
    : tell(json({ data: { revoked: true } }), { target: row[0] as string });
}
