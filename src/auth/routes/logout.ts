import { isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { hashSecret } from "../api-key.js";
import type { AuthRequest } from "../context.js";
import { endCookies } from "../cookies.js";
import { invalidRefreshToken, readRefreshToken, rejection } from "../read-refresh-token.js";
import { familyOf } from "../refresh-rotation.js";
import { revokeByRefreshToken } from "../store/sessions.js";

/** POST /auth/logout: ends the session of a refresh token. Its access tokens are refused from the next request on. */
export async function logout({ request, context }: AuthRequest): Promise<Response | Refusal> {
  const { platform, config } = context;
  const token = await readRefreshToken(request, config);
  if (token === invalidRefreshToken) return rejection(context);
  if (isRefusal(token)) return token;
  const family = familyOf(token);
  if (family === null) return rejection(context);
  const statements = revokeByRefreshToken({
    hash: await hashSecret(token),
    familyHash: await hashSecret(family),
    now: platform.clock.now(),
    graceMs: config.auth.refresh_token_rotation_grace_secs * 1000,
    sessionMaxAgeMs: config.auth.session_max_age_secs * 1000,
  });
  const results = await platform.database.batch(statements);
  if (results.at(-1)!.rows.length === 0) return rejection(context);
  return endCookies(config.auth, json({ data: { revoked: true } }));
}
