import { hashSecret } from "../../encoding/hash-secret.js";
import { underEither } from "../../encoding/keyring.js";
import { withFacts } from "../../http/answer-facts.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import { run } from "../../platform/query.js";
import { openObject } from "../../wire/schema.js";
import type { AuthContext, AuthRequest } from "../context.js";
import { type AuthEndpoint, bodyErrors, signedIn } from "../endpoint.js";
import { refreshToken } from "../fields.js";
import { endCookies } from "../sessions/cookies.js";
import { invalidRefreshToken, readRefreshToken } from "../sessions/read-refresh-token.js";
import {
  familyOf,
  judgeRotation,
  newRefreshToken,
  openSuccessor,
  refreshTokenRandomBytes,
  sealSuccessor,
} from "../sessions/refresh-rotation.js";
import { tokenResponse } from "../sessions/token-response.js";
import { rotateRefreshToken, type TokenFacts } from "../store/refresh-tokens.js";

/**
 * POST /auth/refresh: exchanges a refresh token for new tokens. A refusal of the token in the cookie also deletes the
 * cookies.
 */
export const refreshEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/refresh",
  summary: "Rotates a refresh token, of the body or the cookie",
  takes: openObject({ refresh_token: refreshToken }, "refresh_token"),
  bodyIsOptional: true,
  answers: signedIn,
  errors: [...bodyErrors, 401],
  events: [null, "token_refused"],
  needs: "nothing",
  handle: refresh,
};

async function refresh(given: AuthRequest): Promise<Response | Refusal> {
  const { config } = given.context;
  const sent = await readRefreshToken(given, config);
  if (isRefusal(sent)) return sent;
  const answer = await rotate(given.context, sent.token);
  return answer.status === 401 && sent.from === "cookie" ? endCookies(config.auth, answer) : answer;
}

async function rotate(context: AuthContext, presented: string): Promise<Response> {
  const { platform, config, successorKeys } = context;
  const family = familyOf(presented);
  if (family === null) return invalidRefreshToken.toResponse();
  const now = platform.clock.now();
  const graceMs = config.auth.refresh_token_rotation_grace_secs * 1000;
  const successor = newRefreshToken(platform.random.bytes(refreshTokenRandomBytes), family);
  const iv = platform.random.bytes(12);
  const sealedSuccessor = await sealSuccessor(successor, presented, successorKeys.current, iv);
  const { facts, isReused } = await run(
    platform.database,
    rotateRefreshToken({
      hash: await hashSecret(presented),
      familyHash: await hashSecret(family),
      now,
      graceMs,
      sessionMaxAgeMs: config.auth.session_max_age_secs * 1000,
      successorHash: await hashSecret(successor),
      sealedSuccessor,
      successorExpiresAtMs: now + config.auth.refresh_token_ttl_secs * 1000,
    }),
  );
  const verdict = judgeRotation(facts, sealedSuccessor, now, graceMs);
  switch (verdict.kind) {
    case "issue":
      return respond(context, verdict.facts, successor);
    case "replay": {
      const same = await underEither(successorKeys, (key) => openSuccessor(verdict.sealedSuccessor, presented, key));
      return same === null ? invalidRefreshToken.toResponse() : respond(context, verdict.facts, same);
    }
    case "reject":
      return isReused ? reused(facts) : invalidRefreshToken.toResponse();
  }
}

/**
 * The answer to a refresh token that was used again too late, which has ended its session. The log says whose session
 * it was, if the token is still stored.
 */
function reused(facts: TokenFacts | null): Response {
  const principal = facts && { principal: { kind: "user" as const, id: facts.user.id } };
  return withFacts(invalidRefreshToken.toResponse(), { event: "refresh_reuse", ...principal });
}

async function respond(context: AuthContext, { user, sessionId }: TokenFacts, refreshToken: string): Promise<Response> {
  const response = await tokenResponse(context, user, { id: sessionId, refreshToken }, 200);
  return withFacts(response, { principal: { kind: "user", id: user.id } });
}
