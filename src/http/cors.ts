import type { Context, MiddlewareHandler, Next } from "hono";
import { allowOrigin, type OriginPolicy } from "./origin.js";

const preflightSeconds = "600";

/**
 * Cross-origin access for the allowed origins (Fetch, "CORS protocol"). An origin that is not allowed gets no header at
 * all. Requests without `Origin` pass untouched.
 */
export function cors(policy: OriginPolicy): MiddlewareHandler {
  const withOrigin = async (c: Context, next: Next, origin: string): Promise<Response | undefined> => {
    const headers = headersFor(policy, origin);
    const isPreflight =
      c.req.method === "OPTIONS" && c.req.header("Access-Control-Request-Method") !== undefined;
    if (isPreflight) return preflight(headers, c.req.header("Access-Control-Request-Headers"));
    await next();
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
    return undefined;
  };
  return (c, next) => {
    const origin = c.req.header("Origin");
    return origin === undefined ? next() : withOrigin(c, next, origin);
  };
}

function headersFor(policy: OriginPolicy, origin: string): Record<string, string> {
  const allowed = allowOrigin(policy, origin);
  if (allowed === null) return {};
  return {
    "Access-Control-Allow-Origin": allowed,
    "Access-Control-Expose-Headers": "Retry-After",
    ...(policy.cookies ? { "Access-Control-Allow-Credentials": "true" } : {}),
  };
}

function preflight(headers: Readonly<Record<string, string>>, requested: string | undefined): Response {
  const answer = new Headers({ Vary: "Origin, Access-Control-Request-Headers" });
  if (Object.keys(headers).length > 0) {
    for (const [name, value] of Object.entries(headers)) answer.set(name, value);
    answer.set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE");
    if (requested !== undefined) answer.set("Access-Control-Allow-Headers", requested);
    answer.set("Access-Control-Max-Age", preflightSeconds);
  }
  return new Response(null, { status: 204, headers: answer });
}
