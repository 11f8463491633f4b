import { toHex } from "../encoding/hex.js";
import type { Statement } from "../platform/database.js";
import { hashSecret } from "./api-key.js";
import type { AuthContext } from "./context.js";
import { newRefreshToken, refreshTokenRandomBytes } from "./refresh-rotation.js";
import { openSession } from "./store/sessions.js";

const idBytes = 16;

/** A random identifier of 128 bits. */
export function newId(context: Pick<AuthContext, "platform">): string {
  return toHex(context.platform.random.bytes(idBytes));
}

/** A session that is not stored yet. */
export interface NewlyMadeSession {
  readonly id: string;
  readonly refreshToken: string;
  readonly refreshTokenHash: string;
  readonly now: number;
  readonly refreshExpiresAtMs: number;
}

export async function newSession(
  context: Pick<AuthContext, "platform" | "config">,
): Promise<NewlyMadeSession> {
  const { clock, random } = context.platform;
  const now = clock.now();
  const refreshToken = newRefreshToken(random.bytes(refreshTokenRandomBytes));
  return {
    id: newId(context),
    refreshToken,
    refreshTokenHash: await hashSecret(refreshToken),
    now,
    refreshExpiresAtMs: now + context.config.auth.refresh_token_ttl_secs * 1000,
  };
}

export interface PreparedSession {
  readonly id: string;
  readonly refreshToken: string;
  /** The first of them returns a row exactly if the session was opened. */
  readonly statements: readonly Statement[];
}

/** A session and its first refresh token, ready to be stored. */
export async function prepareSession(
  context: AuthContext,
  user: { readonly id: string; readonly passwordHash: string },
): Promise<PreparedSession> {
  const session = await newSession(context);
  const statements = openSession({ ...session, userId: user.id, passwordHash: user.passwordHash });
  return { id: session.id, refreshToken: session.refreshToken, statements };
}
