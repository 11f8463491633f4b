import { hashSecret } from "../../encoding/hash-secret.js";
import { underEither } from "../../encoding/keyring.js";
import { withFacts } from "../../http/answer-facts.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import { run } from "../../platform/query.js";
import { openObject } from "../../wire/schema.js";
import type { AuthContext, AuthRequest } from "../context.js";
import { type AuthEndpoint, bodyErrors, signedIn } from "../endpoint.js";
import { refreshToken } from "../fields.js";
import { invalidRefreshToken, readRefreshToken, rejection } from "../sessions/read-refresh-token.js";
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
 * POST /auth/refresh: exchanges a refresh token for new tokens. In cookie mode, a refusal of the refresh token also
 * deletes the cookies.
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
  const answer = await rotate(given);
  return answer === invalidRefreshToken ? rejection(given.context.config) : answer;
}

async function rotate(given: AuthRequest): Promise<Response | Refusal> {
  const { context } = given;
  const { platform, config, successorKeys } = context;
  const presented = await readRefreshToken(given, config);
  if (isRefusal(presented)) return presented;
  const family = familyOf(presented);
  if (family === null) return invalidRefreshToken;
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
      return same === null ? invalidRefreshToken : respond(context, verdict.facts, same);
    }
    case "reject":
      return isReused ? reused(context, facts) : invalidRefreshToken;
  }
}

/**
 * The answer to a refresh token that was used again too late, which has ended its session. The log says whose session
 * it was, if the token is still stored.
 */
function reused(context: AuthContext, facts: TokenFacts | null): Response {
  const principal = facts && { principal: { kind: "user" as const, id: facts.user.id } };
  return withFacts(rejection(context.config), { event: "refresh_reuse", ...principal });
}

async function respond(context: AuthContext, { user, sessionId }: TokenFacts, refreshToken: string): Promise<Response> {
  const response = await tokenResponse(context, user, { id: sessionId, refreshToken }, 200);
  return withFacts(response, { principal: { kind: "user", id: user.id } });
}
