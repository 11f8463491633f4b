import type { MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import { isLoopbackHost } from "../http/loopback.js";
import { forwardedProtocol, isHttps, isOwnOrigin, type OwnOrigin } from "../http/origin.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { unauthorized } from "./authenticate.js";
import { consoleCookie, isByConsoleCookie } from "./console-cookie.js";

/** How a request of the console's page has come, which decides which name its cookie has. */
export type ConsoleOrigin = "https" | "loopback";

/**
 * Judges whether a request comes from a page of the server's very own origin, which every request that carries the
 * console's cookie, or would be given it, has to come from: `cors.allowed_origins` do not count. `Origin` tells, else
 * `Sec-Fetch-Site`; without either the request is refused. So is plain HTTP, except on a loopback address, as it would
 * show the password to the network.
 */
export function consoleOrigin(policy: OwnOrigin, request: Request): ConsoleOrigin | Refusal {
  const origin = request.headers.get("Origin");
  const isOwn =
    origin === null
      ? request.headers.get("Sec-Fetch-Site") === "same-origin"
      : isOwnOrigin(origin, policy, request);
  if (!isOwn) return foreign;
  const { protocol, hostname } = new URL(request.url);
  if (isHttps(policy.own) || (forwardedProtocol(request, policy.trustProxy) ?? protocol) === "https:")
    return "https";
  return isLoopbackHost(hostname) ? "loopback" : inTheClear;
}

/**
 * Middleware for everything under `/admin/api`: refuses requests whose credential is the console's cookie unless a page
 * of the server's own has sent them. Requests without that cookie are passed on.
 */
export function consoleGuard(policy: OwnOrigin): MiddlewareHandler {
  return async (c, next) => {
    const request = c.req.raw;
    if (!isByConsoleCookie(request.headers)) return next();
    const origin = consoleOrigin(policy, request);
    if (isRefusal(origin)) return origin.toResponse();
    // Over HTTPS, a console's cookie without the prefix `__Secure-` was not set by this server: any page of the site,
    // or somebody on the network, could have set it.
    const isMisplaced = origin === "https" && !consoleCookie(request.headers)!.isSecure;
    return isMisplaced ? unauthorized.toResponse() : next();
  };
}

/**
 * Whether a request is for pages of the server's own origin alone, so that no other origin is told that it may read the
 * answer: the console and its session, and what comes under `/admin/api` by that session. Elsewhere the cookie is none of
 * this server's: whoever has set it there takes nothing from others by it.
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
