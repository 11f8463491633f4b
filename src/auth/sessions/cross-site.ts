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
    const request = c.req.raw;
    if (safeMethods.has(request.method)) return next();
    // The request's path as the router sees it, percent-decoded.
    const { path } = c.req;
    if (judgedElsewhere.test(path)) return next();
    const verdict = judgeOrigin(policy, request);
    const refused = isRefused(verdict, hasSessionCookie(request.headers), path.startsWith("/auth/"));
    return refused ? foreign.toResponse() : next();
  };
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
