import type { RequestBody } from "../../http/body.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { Config } from "../../project/config.js";
import { isAuthBodyEmpty, readAuthBody } from "../body.js";
import { endCookies, refreshCookie } from "./cookies.js";

/**
 * Reads the refresh token of a request: from the body, or in cookie mode, if the body is empty or has no token, from
 * the cookie. Returns a refusal where there is none, or the body is not valid.
 */
export async function readRefreshToken(
  { request, body: sent }: { readonly request: Request; readonly body: RequestBody },
  { auth }: Config,
): Promise<string | Refusal> {
  const cookie = auth.cookie_mode ? refreshCookie(request.headers) : null;
  if (auth.cookie_mode && (await isAuthBodyEmpty(sent))) return cookie ?? invalidRefreshToken;
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { refresh_token: token } = body;
  if (typeof token === "string") return token;
  return token === undefined && cookie !== null ? cookie : badRequest("refresh_token: expected a string");
}

/**
 * The refusal of a refresh token that is malformed, expired, used or revoked. A browser that sends no token at all gets
 * it too, because its refresh cookie has expired.
 */
export const invalidRefreshToken = new Refusal(
  "invalid_refresh_token",
  "the refresh token is malformed, expired, used or revoked",
);

/** The response that refuses a refresh token. In cookie mode it also deletes the cookies. */
export function rejection({ auth }: Config): Response {
  return endCookies(auth, invalidRefreshToken.toResponse());
}
