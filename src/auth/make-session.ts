import { hashSecret } from "./api-key.js";
import type { AuthContext } from "./context.js";
import { newId } from "./new-id.js";
import { familyOf, newRefreshToken, refreshTokenRandomBytes } from "./refresh-rotation.js";
import type { NewSession } from "./store/sessions.js";

/** Makes a new session with its first refresh token. `openSession` stores it. */
export async function makeSession(context: Pick<AuthContext, "platform" | "config">): Promise<MadeSession> {
  const { clock, random } = context.platform;
  const { auth } = context.config;
  const now = clock.now();
  const refreshToken = newRefreshToken(random.bytes(refreshTokenRandomBytes));
  return {
    id: newId(context),
    refreshToken,
    refreshTokenHash: await hashSecret(refreshToken),
    familyHash: await hashSecret(familyOf(refreshToken)!),
    now,
    refreshExpiresAtMs: now + Math.min(auth.refresh_token_ttl_secs, auth.session_max_age_secs) * 1000,
  };
}

/** A session that is not stored yet. The refresh token goes to the client; only hashes are stored. */
export interface MadeSession extends NewSession {
  readonly refreshToken: string;
}
