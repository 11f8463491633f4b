import type { Config } from "../../project/config.js";

/**
 * The names of the two cookies for sessions (cookie mode). Clients rely on these names and on the attributes
 * (docs/reference/auth.md#cookie-mode).
 */
const accessName = "svc_access";
const refreshName = "svc_refresh";

type Settings = Pick<
  Config["auth"],
  "cookie_mode" | "cookie_secure" | "access_token_ttl_secs" | "refresh_token_ttl_secs"
>;

/**
 * The values of the two `Set-Cookie` headers that give a browser the tokens of a session, when it is opened and at each
 * refresh.
 */
export function sessionCookies(settings: Settings, accessToken: string, refreshToken: string): readonly string[] {
  return [
    cookie(accessName, accessToken, settings.access_token_ttl_secs, settings),
    cookie(refreshName, refreshToken, settings.refresh_token_ttl_secs, settings),
  ];
}

/**
 * In cookie mode, adds headers to the response that delete the access and the refresh cookie. Browsers delete a cookie
 * only where name, path and domain are those that it was set with.
 */
export function endCookies(settings: Settings, response: Response): Response {
  if (!settings.cookie_mode) return response;
  return withCookies(response, [cookie(accessName, "", 0, settings), cookie(refreshName, "", 0, settings)]);
}

function cookie(name: string, value: string, maxAgeSeconds: number, { cookie_secure }: Settings): string {
  const attributes = `HttpOnly; SameSite=Lax; Path=/; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; ${attributes}${cookie_secure ? "; Secure" : ""}`;
}

/** The access token in the request's cookies; null where there is no such cookie, an empty one or several. */
export function accessCookie(headers: Headers): string | null {
  return readCookie(headers, accessName);
}

/** The refresh token in the request's cookies; null where there is no such cookie, an empty one or several. */
export function refreshCookie(headers: Headers): string | null {
  return readCookie(headers, refreshName);
}

/**
 * Whether the server can read an access or a refresh token from the request's cookies. A cookie that is empty, or that
 * comes twice, counts as none. The token itself is not checked.
 */
export function hasSessionCookie(headers: Headers): boolean {
  return accessCookie(headers) !== null || refreshCookie(headers) !== null;
}

/**
 * The value of the cookie of that name in the `Cookie` header (RFC 6265, section 5.4). Null where there is none, where
 * it is empty, and where the name comes twice, because it is unclear which of the two cookies is meant.
 */
function readCookie(headers: Headers, name: string): string | null {
  const values = cookieValues(headers, name);
  return values.length === 1 && values[0] !== "" ? values[0]! : null;
}

/** The values of all cookies of that name in the `Cookie` header. */
export function cookieValues(headers: Headers, name: string): readonly string[] {
  return (headers.get("Cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** Adds a `Set-Cookie` header to the response for each of `cookies`, and returns the response. */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const text of cookies) response.headers.append("Set-Cookie", text);
  return response;
}
