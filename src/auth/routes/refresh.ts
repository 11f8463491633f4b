import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { Result } from "../../platform/database.js";
import type { Config } from "../../project/config.js";
import { hashSecret } from "../api-key.js";
import { isAuthBodyEmpty, readAuthBody } from "../body.js";
import type { AuthContext } from "../context.js";
import { expiredCookies, refreshCookie, withCookies } from "../cookies.js";
import {
  judgeRotation,
  newRefreshToken,
  openSuccessor,
  refreshTokenRandomBytes,
  sealSuccessor,
  type TokenFacts,
} from "../refresh-rotation.js";
import { rotateRefreshToken } from "../store/sessions.js";
import { tokenResponse } from "../token-response.js";

/** POST /auth/refresh: rotates a refresh token (specification 5.5). A confirmed rejection ends the cookies too. */
export async function refresh(request: Request, context: AuthContext): Promise<Response | Refusal> {
  const answer = await rotate(request, context);
  return answer === invalidRefreshToken ? rejection(context) : answer;
}

/** `invalid_refresh_token`, in cookie mode with cookies that are over. */
export function rejection({ config }: AuthContext): Response {
  const response = invalidRefreshToken.toResponse();
  return config.auth.cookie_mode ? withCookies(response, expiredCookies(config.auth)) : response;
}

async function rotate(request: Request, context: AuthContext): Promise<Response | Refusal> {
  const { platform, config, successorKey } = context;
  const presented = await readRefreshToken(request, config);
  if (isRefusal(presented)) return presented;
  const now = platform.clock.now();
  const graceMs = config.auth.refresh_token_rotation_grace_secs * 1000;
  const successor = newRefreshToken(platform.random.bytes(refreshTokenRandomBytes));
  const sealedSuccessor = await sealSuccessor(successor, presented, successorKey, platform.random.bytes(12));
  const results = await platform.database.batch(
    rotateRefreshToken({
      hash: await hashSecret(presented),
      successorHash: await hashSecret(successor),
      sealedSuccessor,
      now,
      successorExpiresAtMs: now + config.auth.refresh_token_ttl_secs * 1000,
      graceMs,
    }),
  );
  const verdict = judgeRotation(factsOf(results.at(-1)!), sealedSuccessor, now, graceMs);
  switch (verdict.kind) {
    case "issue":
      return respond(context, verdict.facts, successor);
    case "replay": {
      const same = await openSuccessor(verdict.sealedSuccessor, presented, successorKey);
      return same === null ? invalidRefreshToken : respond(context, verdict.facts, same);
    }
    case "reject":
      return invalidRefreshToken;
  }
}

/** Also of a browser whose cookie is over, and that so sends none. */
export const invalidRefreshToken = new Refusal(
  "invalid_refresh_token",
  "the refresh token is malformed, expired, used or revoked",
);

/** From the body, else in cookie mode from the cookie, which needs no body at all (specification 5.1). */
export async function readRefreshToken(request: Request, { auth }: Config): Promise<string | Refusal> {
  const cookie = auth.cookie_mode ? refreshCookie(request.headers) : null;
  if (auth.cookie_mode && (await isAuthBodyEmpty(request))) return cookie ?? invalidRefreshToken;
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { refresh_token: token } = body;
  if (typeof token === "string") return token;
  return token === undefined && cookie !== null ? cookie : badRequest("refresh_token: expected a string");
}

function respond(
  context: AuthContext,
  { user, sessionId }: TokenFacts,
  refreshToken: string,
): Promise<Response> {
  return tokenResponse(context, user, { id: sessionId, refreshToken }, 200);
}

function factsOf({ rows: [row] }: Result): TokenFacts | null {
  if (row === undefined) return null;
  const [usedAtMs, familyTimeMs, sealed, sessionId, revokedAt, id, email, role, disabled] = row;
  return {
    usedAtMs: usedAtMs as number | null,
    familyTimeMs: familyTimeMs as number,
    sealedSuccessor: sealed as string | null,
    sessionId: sessionId as string,
    sessionRevoked: revokedAt !== null,
    user: { id: id as string, email: email as string, role: role as string, disabled: disabled === 1 },
  };
}
