import { isApiKey, looksLikeApiKey } from "./api-key.js";
import { accessCookie } from "./cookies.js";

/** The credential in a request's headers, before anything of it is verified. */
export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "access_token"; readonly token: string }
  | { readonly kind: "api_key"; readonly secret: string }
  | { readonly kind: "malformed" };

const scheme = "bearer ";

/**
 * Reads the credential: a bearer token (RFC 6750, section 2.1), else `X-API-Key`, else in cookie mode the access
 * cookie. An `Authorization` header with another scheme is malformed; the request does not count as anonymous.
 */
export function readCredential(headers: Headers, cookieMode: boolean): Credential {
  const authorization = headers.get("Authorization");
  if (authorization === null) {
    const key = headers.get("X-API-Key");
    if (key !== null) return apiKey(key);
    const token = cookieMode ? accessCookie(headers) : null;
    return token === null ? { kind: "none" } : { kind: "access_token", token };
  }
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return { kind: "malformed" };
  const token = authorization.slice(scheme.length).replace(/^ +/, "");
  return looksLikeApiKey(token) ? apiKey(token) : { kind: "access_token", token };
}

function apiKey(secret: string): Credential {
  return isApiKey(secret) ? { kind: "api_key", secret } : { kind: "malformed" };
}
