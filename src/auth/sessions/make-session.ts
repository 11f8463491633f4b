import { hashSecret } from "../../encoding/hash-secret.js";
import { newId } from "../../platform/new-id.js";
import type { Platform } from "../../platform/platform.js";
import type { Config } from "../../project/config.js";
import type { NewSession } from "../store/sessions.js";
import type { AccessTokens } from "./access-token.js";
import { familyOf, newRefreshToken, refreshTokenRandomBytes } from "./refresh-rotation.js";

/** What opening a session takes of the server. */
export interface SessionServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly tokens: AccessTokens;
}

/** Makes a new session with its first refresh token. `openSession` stores it. */
export async function makeSession({
  platform: { clock, random },
  config: { auth },
}: SessionServices): Promise<MadeSession> {
  const now = clock.now();
  const refreshToken = newRefreshToken(random.bytes(refreshTokenRandomBytes));
  return {
    id: newId(random),
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
