import type { MiddlewareHandler } from "hono";
import { judgeOrigin, type OriginPolicy, type OriginVerdict } from "../../http/origin.js";
import { Refusal } from "../../http/refusal.js";
import { hasSessionCookie } from "./cookies.js";

/**
 * Methods that change nothing, so that the guard against pages of other sites lets them pass. QUERY reads, as GET does.
 * Another site's page can make a browser send QUERY only after a preflight, which asks this server whether that site
 * may do so.
 */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "QUERY"]);

/**
 * Paths that the guard against pages of other sites leaves alone. Apple's callback is posted from Apple's origin and
 * carries no cookie of this server. The server's own pages for mailed links set no cookie, send `Origin: null`, and
 * check their forms themselves (`routes/pages.ts`).
 */
const judgedElsewhere = /^\/auth\/(oauth\/callback|pages)\//;

/**
 * In cookie mode, refuses requests that a page of another site may have made a browser send: writes that carry a
 * session cookie, and requests under /auth, which could set one (docs/reference/auth.md#cross-site-requests).
 */
export function crossSiteGuard(policy: OriginPolicy): MiddlewareHandler {
  return async (c, next) => {
    // The request's path as the router sees it, percent-decoded.
    const { path } = c.req;
    if (judgedElsewhere.test(path)) return next();
    return crossSiteRefusal(policy, c.req.raw, path.startsWith("/auth/"))?.toResponse() ?? next();
  };
}

/**
 * The refusal of a request that a page of another site may have made a browser send; null for any other.
 * `maySetCookie`: whether its answer could set a session cookie.
 */
export function crossSiteRefusal(policy: OriginPolicy, request: Request, maySetCookie = false): Refusal | null {
  if (safeMethods.has(request.method)) return null;
  return isRefused(judgeOrigin(policy, request), hasSessionCookie(request.headers), maySetCookie) ? foreign : null;
}

function isRefused(verdict: OriginVerdict, carriesCookie: boolean, maySetCookie: boolean): boolean {
  switch (verdict) {
    case "trusted":
      return false;
    case "foreign":
      return carriesCookie || maySetCookie;
    case "unknown":
      return carriesCookie;
  }
}

const foreign = new Refusal("forbidden", "the request comes from an origin that is not allowed", {
  facts: { event: "cross_site_refused" },
});
