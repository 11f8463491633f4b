import { fromBase64Url, toBase64Url } from "../../encoding/base64.js";
import { cookieValues } from "./cookies.js";

/**
 * The names of the cookie that holds the token of a console's session: over HTTPS one with the prefix `__Secure-`,
 * which browsers accept only from HTTPS (RFC 6265bis, section 4.1.3), and over HTTP on a loopback address one without
 * it.
 */
const secureName = "__Secure-svc_console";
const loopbackName = "svc_console";

/** How long a session of the console lasts at most, in milliseconds: 12 hours. */
export const consoleSessionMs = 43_200_000;

/** For how long a session of the console counts as confirmed after its password was typed, in milliseconds. */
export const confirmedMs = 300_000;

const prefix = "svc_cs_";
const tokenBytes = 32;

/** How many random bytes `newConsoleToken` makes a token from. */
export const consoleTokenRandomBytes = tokenBytes;

/**
 * Makes the token of a new session of the console from `consoleTokenRandomBytes` random bytes. The database stores only
 * its hash.
 */
export function newConsoleToken(random: Uint8Array): string {
  return prefix + toBase64Url(random.subarray(0, tokenBytes));
}

/** Whether the text has the form of a token of a console's session. Whether there is such a session is not checked. */
export function isConsoleToken(text: string): boolean {
  return text.startsWith(prefix) && fromBase64Url(text.slice(prefix.length))?.length === tokenBytes;
}

/** A cookie of the console as a request has sent it. */
export interface ConsoleCookie {
  /** Whether the cookie has the name that is used over HTTPS. */
  readonly isSecure: boolean;
  /**
   * The token in the cookie; empty where the name comes twice, because it is unclear which of the two cookies is meant.
   */
  readonly token: string;
}

/** The console's cookie in a request; null where there is none. The one with the name for HTTPS wins over the other. */
export function consoleCookie(headers: Headers): ConsoleCookie | null {
  for (const name of [secureName, loopbackName]) {
    const values = cookieValues(headers, name);
    if (values.length > 0) return { isSecure: name === secureName, token: values.length === 1 ? values[0]! : "" };
  }
  return null;
}

/**
 * Whether a request's credential is the console's cookie, at an endpoint that accepts it: `Authorization` and
 * `X-API-Key` win over the cookie.
 */
export function isByConsoleCookie(headers: Headers): boolean {
  return !headers.has("Authorization") && !headers.has("X-API-Key") && consoleCookie(headers) !== null;
}

/**
 * The `Set-Cookie` header of a console's session that lasts `maxAgeMs`; with an empty token and 0 it deletes the
 * cookie. Browsers send the cookie only with requests to `/admin/api` from pages of this very site, and no script can
 * read it.
 */
export function consoleCookieText(token: string, maxAgeMs: number, isSecure: boolean): string {
  const maxAge = Math.floor(maxAgeMs / 1000);
  const attributes = `Path=/admin/api; HttpOnly; SameSite=Strict; Max-Age=${maxAge}`;
  return isSecure ? `${secureName}=${token}; ${attributes}; Secure` : `${loopbackName}=${token}; ${attributes}`;
}
