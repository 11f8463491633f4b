import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import type { Config } from "../project/config.js";
import { isAuthBodyEmpty, readAuthBody } from "./body.js";
import type { AuthContext } from "./context.js";
import { endCookies, refreshCookie } from "./cookies.js";

/**
 * Reads a request's refresh token: from the body, else in cookie mode from the cookie, for which the request needs no
 * body.
 */
export async function readRefreshToken(request: Request, { auth }: Config): Promise<string | Refusal> {
  const cookie = auth.cookie_mode ? refreshCookie(request.headers) : null;
  if (auth.cookie_mode && (await isAuthBodyEmpty(request))) return cookie ?? invalidRefreshToken;
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { refresh_token: token } = body;
  if (typeof token === "string") return token;
  return token === undefined && cookie !== null ? cookie : badRequest("refresh_token: expected a string");
}

/**
 * The refusal of a refresh token that is malformed, expired, used or revoked. It is also the answer to a browser whose
 * refresh cookie has expired, which sends no token.
 */
export const invalidRefreshToken = new Refusal(
  "invalid_refresh_token",
  "the refresh token is malformed, expired, used or revoked",
);

/** The response that refuses a refresh token. In cookie mode it also deletes the cookies. */
export function rejection({ config }: AuthContext): Response {
  return endCookies(config.auth, invalidRefreshToken.toResponse());
}
