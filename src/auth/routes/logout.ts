import { hashSecret } from "../../encoding/hash-secret.js";
import { withFacts } from "../../http/answer-facts.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { run } from "../../platform/query.js";
import { constant, data, object, openObject } from "../../wire/schema.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, bodyErrors } from "../endpoint.js";
import { refreshToken } from "../fields.js";
import { endCookies } from "../sessions/cookies.js";
import { invalidRefreshToken, readRefreshToken } from "../sessions/read-refresh-token.js";
import { familyOf } from "../sessions/refresh-rotation.js";
import { revokeByRefreshToken } from "../store/refresh-tokens.js";

/**
 * POST /auth/logout: ends the session that a refresh token belongs to. Requests with the session's access tokens are
 * refused from then on. In cookie mode, the cookies are deleted even if the token is refused.
 */
export const logoutEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/logout",
  summary: "Ends the session of a refresh token",
  takes: openObject({ refresh_token: refreshToken }, "refresh_token"),
  bodyIsOptional: true,
  answers: { 200: data(object({ revoked: constant(true) })) },
  errors: [...bodyErrors, 401],
  events: ["logout", "token_refused"],
  needs: "nothing",
  handle: logout,
};

async function logout(given: AuthRequest): Promise<Response | Refusal> {
  const { platform, config } = given.context;
  const sent = await readRefreshToken(given, config);
  if (isRefusal(sent)) return sent;
  const refused = () => endCookies(config.auth, invalidRefreshToken.toResponse());
  const family = familyOf(sent.token);
  if (family === null) return refused();
  const revoke = revokeByRefreshToken({
    hash: await hashSecret(sent.token),
    familyHash: await hashSecret(family),
    now: platform.clock.now(),
    graceMs: config.auth.refresh_token_rotation_grace_secs * 1000,
    sessionMaxAgeMs: config.auth.session_max_age_secs * 1000,
  });
  const { userId, isReused } = await run(platform.database, revoke);
  if (userId === null) return withFacts(refused(), isReused ? { event: "refresh_reuse" } : {});
  const answer = endCookies(config.auth, json({ data: { revoked: true } }));
  return withFacts(answer, { principal: { kind: "user", id: userId } });
}
