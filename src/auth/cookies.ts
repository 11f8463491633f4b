import type { Config } from "../project/config.js";

/** Names and attributes are public: see docs/guides/browsers.md. */
const accessName = "svc_access";
const refreshName = "svc_refresh";

type Settings = Pick<
  Config["auth"],
  "cookie_mode" | "cookie_secure" | "access_token_ttl_secs" | "refresh_token_ttl_secs"
>;

/** The session's cookies for a Set-Cookie each. */
export function sessionCookies(
  settings: Settings,
  accessToken: string,
  refreshToken: string,
): readonly string[] {
  return [
    cookie(accessName, accessToken, settings.access_token_ttl_secs, settings),
    cookie(refreshName, refreshToken, settings.refresh_token_ttl_secs, settings),
  ];
}

/** In cookie mode, the answer deletes both; the attributes match those that they were set with. */
export function endCookies(settings: Settings, response: Response): Response {
  if (!settings.cookie_mode) return response;
  return withCookies(response, [cookie(accessName, "", 0, settings), cookie(refreshName, "", 0, settings)]);
}

function cookie(name: string, value: string, maxAgeSeconds: number, { cookie_secure }: Settings): string {
  const attributes = `HttpOnly; SameSite=Lax; Path=/; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; ${attributes}${cookie_secure ? "; Secure" : ""}`;
}

export function accessCookie(headers: Headers): string | null {
  return readCookie(headers, accessName);
}

export function refreshCookie(headers: Headers): string | null {
  return readCookie(headers, refreshName);
}

export function hasSessionCookie(headers: Headers): boolean {
  return accessCookie(headers) !== null || refreshCookie(headers) !== null;
}

/** RFC 6265, section 5.4. A name that comes twice is of two minds: neither counts. */
function readCookie(headers: Headers, name: string): string | null {
  const values = (headers.get("Cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && values[0] !== "" ? values[0]! : null;
}

/** Adds cookies to an answer. */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const text of cookies) response.headers.append("Set-Cookie", text);
  return response;
}
