import { json } from "../../http/respond.js";
import { newId } from "../../platform/new-id.js";
import { hasTokensInBody } from "../../project/has-tokens-in-body.js";
import type { SessionHolder } from "../store/sessions.js";
import { sessionCookies, withCookies } from "./cookies.js";
import type { SessionServices } from "./make-session.js";

/**
 * The response to a sign-in or refresh: `{ data: { user, access_token, refresh_token, token_type, expires_in } }`. In
 * cookie mode the tokens are also set as cookies; the body then leaves them out if `auth.cookie_tokens_in_body` is
 * false.
 */
export async function tokenResponse(
  { config, platform, tokens }: SessionServices,
  { id, email, role }: SessionHolder,
  session: { readonly id: string; readonly refreshToken: string },
  status: 200 | 201,
): Promise<Response> {
  const lifetimeSeconds = config.auth.access_token_ttl_secs;
  const claims = { userId: id, sessionId: session.id, email, role };
  const accessToken = await tokens.issue(claims, newId(platform.random), platform.clock.now(), lifetimeSeconds);
  const data = {
    user: { id, email, role },
    ...(hasTokensInBody(config) && { access_token: accessToken, refresh_token: session.refreshToken }),
    token_type: "Bearer",
    expires_in: lifetimeSeconds,
  };
  const response = json({ data }, status);
  return config.auth.cookie_mode
    ? withCookies(response, sessionCookies(config.auth, accessToken, session.refreshToken))
    : response;
}
