import { hashSecret } from "../../encoding/hash-secret.js";
import { newId } from "../../platform/new-id.js";
import type { NewConsoleSession } from "../store/console-sessions.js";
import { confirmedMs, consoleSessionMs, consoleTokenRandomBytes, newConsoleToken } from "./console-cookie.js";
import type { SessionServices } from "./make-session.js";

/**
 * A session of the console (the web page for administrators) that is not stored yet. The token goes into the cookie;
 * only its hash is stored.
 */
export interface MadeConsoleSession extends NewConsoleSession {
  readonly token: string;
}

/**
 * Makes a session of the console, to be stored by `openConsoleSession`. From its start it counts as confirmed by a
 * password, for the time `confirmedMs`.
 */
export async function makeConsoleSession({
  platform,
  config,
}: Pick<SessionServices, "platform" | "config">): Promise<MadeConsoleSession> {
  const now = platform.clock.now();
  const token = newConsoleToken(platform.random.bytes(consoleTokenRandomBytes));
  return {
    id: newId(platform.random),
    token,
    tokenHash: await hashSecret(token),
    now,
    expiresAtMs: now + Math.min(consoleSessionMs, config.auth.session_max_age_secs * 1000),
    confirmedUntilMs: now + confirmedMs,
  };
}
