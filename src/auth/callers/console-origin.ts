import type { MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import { isLoopbackHost } from "../../http/loopback.js";
import { forwardedProtocol, isHttps, isOwnOrigin, type OwnOrigin } from "../../http/origin.js";
import { isRefusal, Refusal } from "../../http/refusal.js";
import { consoleCookie, isByConsoleCookie } from "../sessions/console-cookie.js";
import { unauthorized } from "./authenticate.js";

/**
 * Over what a request of the console's page has come: HTTPS, or plain HTTP to a loopback address. It decides which name
 * the console's cookie has.
 */
export type ConsoleOrigin = "https" | "loopback";

/**
 * Returns over what a request has come, or a refusal where no page of the server's own origin has sent it. A request
 * that carries the console's cookie or asks for one has to come from such a page; an origin in `cors.allowed_origins`
 * is not enough. The header `Origin` tells, or without it `Sec-Fetch-Site`; without either the request is refused. A
 * request over plain HTTP is refused too, except to a loopback address, because the network could read the password.
 */
export function consoleOrigin(policy: OwnOrigin, request: Request): ConsoleOrigin | Refusal {
  const origin = request.headers.get("Origin");
  const isOwn =
    origin === null ? request.headers.get("Sec-Fetch-Site") === "same-origin" : isOwnOrigin(origin, policy, request);
  if (!isOwn) return foreign;
  const { protocol, hostname } = new URL(request.url);
  if (isHttps(policy.own) || (forwardedProtocol(request, policy.trustProxy) ?? protocol) === "https:") return "https";
  return isLoopbackHost(hostname) ? "loopback" : inTheClear;
}

/**
 * Judges a request under `/admin/api`. If its credential is the console's cookie, it is refused unless a page of the
 * server's own has sent it. Returns null for all other requests.
 */
export function consoleRefusal(policy: OwnOrigin, request: Request): Refusal | null {
  if (!isByConsoleCookie(request.headers)) return null;
  const origin = consoleOrigin(policy, request);
  if (isRefusal(origin)) return origin;
  // Over HTTPS, this server gives the console's cookie only the name with the prefix `__Secure-`. A cookie with the
  // other name was set by somebody else, such as another page of the site or somebody on the network, so it is refused.
  const isMisplaced = origin === "https" && !consoleCookie(request.headers)!.isSecure;
  return isMisplaced ? unauthorized : null;
}

/** Makes a middleware that refuses what `consoleRefusal` refuses, and passes all other requests on. */
export function consoleGuard(policy: OwnOrigin): MiddlewareHandler {
  return async (c, next) => consoleRefusal(policy, c.req.raw)?.toResponse() ?? next();
}

/**
 * Whether only pages of the server's own origin may read the answer to a request, so that the answer allows no other
 * origin (CORS). That holds for the console, for signing in to it, and for requests under `/admin/api` whose credential
 * is the console's cookie. On all other paths that cookie means nothing, even where a request carries it.
 */
export function isOfOwnPages(request: Request): boolean {
  const path = getPath(request);
  if (/^\/(console|admin\/api\/(session|setup))(\/|$)/.test(path)) return true;
  return path.startsWith("/admin/api/") && isByConsoleCookie(request.headers);
}

const foreign = new Refusal("forbidden", "the console's session is for pages of the server's own origin", {
  facts: { event: "cross_site_refused" },
});
const inTheClear = new Refusal("forbidden", "the console needs https, except on a loopback address");
