import type { RequestBody } from "../../http/body.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { Config } from "../../project/config.js";
import { isAuthBodyEmpty, readAuthBody } from "../body.js";
import { refreshCookie } from "./cookies.js";

/** The refresh token that a request presents, and where it was read. */
export interface SentRefreshToken {
  /** Empty where the cookie is missing. */
  readonly token: string;
  readonly from: "body" | "cookie";
}

/**
 * Reads the refresh token of a request: from the body, or in cookie mode, if the body is empty or has no token, from
 * the cookie. Returns a refusal where the body is not valid.
 */
export async function readRefreshToken(
  { request, body: sent }: { readonly request: Request; readonly body: RequestBody },
  { auth }: Config,
): Promise<SentRefreshToken | Refusal> {
  const cookie = auth.cookie_mode ? refreshCookie(request.headers) : null;
  if (auth.cookie_mode && (await isAuthBodyEmpty(sent))) return { token: cookie ?? "", from: "cookie" };
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { refresh_token: token } = body;
  if (typeof token === "string") return { token, from: "body" };
  if (token === undefined && cookie !== null) return { token: cookie, from: "cookie" };
  return badRequest("refresh_token: expected a string");
}

/**
 * The refusal of a refresh token that is malformed, expired, used or revoked. A browser that sends no token at all gets
 * it too, because its refresh cookie has expired.
 */
export const invalidRefreshToken = new Refusal(
  "invalid_refresh_token",
  "the refresh token is malformed, expired, used or revoked",
);
