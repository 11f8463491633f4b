import { consoleCookie, isConsoleToken } from "../sessions/console-cookie.js";
import { accessCookie } from "../sessions/cookies.js";
import { isApiKey, looksLikeApiKey } from "./api-key.js";

/** The credential in a request's headers, before anything of it is verified. */
export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "access_token"; readonly token: string }
  | { readonly kind: "api_key"; readonly secret: string }
  | { readonly kind: "console_token"; readonly token: string }
  | { readonly kind: "malformed" };

/**
 * Which cookies count as credentials at an endpoint: the access cookie in cookie mode, and the console's cookie under
 * `/admin/api` alone.
 */
export interface TakenCookies {
  readonly access: boolean;
  readonly console: boolean;
}

const scheme = "bearer ";

/**
 * Reads a request's credential: a bearer token (RFC 6750, section 2.1), else `X-API-Key`, else the console's cookie,
 * else the access cookie, each cookie only where `taken` says so. An `Authorization` header with another scheme makes
 * the credential malformed, as does a console's cookie without a valid token; the request does not count as anonymous
 * then.
 */
export function readCredential(headers: Headers, taken: TakenCookies): Credential {
  const authorization = headers.get("Authorization");
  if (authorization === null) {
    const key = headers.get("X-API-Key");
    return key === null ? inCookies(headers, taken) : apiKey(key);
  }
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return { kind: "malformed" };
  const token = authorization.slice(scheme.length).replace(/^ +/, "");
  return looksLikeApiKey(token) ? apiKey(token) : { kind: "access_token", token };
}

function inCookies(headers: Headers, taken: TakenCookies): Credential {
  const found = taken.console ? consoleCookie(headers) : null;
  if (found !== null)
    return isConsoleToken(found.token) ? { kind: "console_token", token: found.token } : { kind: "malformed" };
  const token = taken.access ? accessCookie(headers) : null;
  return token === null ? { kind: "none" } : { kind: "access_token", token };
}

function apiKey(secret: string): Credential {
  return isApiKey(secret) ? { kind: "api_key", secret } : { kind: "malformed" };
}
