import { allowOrigin, type OriginPolicy } from "./origin.js";
import { everyAnswer } from "./respond.js";
import type { Fetch } from "./router.js";

const preflightSeconds = "600";

/**
 * Adds the CORS protocol (Fetch standard, "CORS protocol") to `answer`: it answers preflight requests and adds
 * `Access-Control-*` headers for allowed origins. Other origins, and requests for which `isExempt` holds, get none of
 * these headers; requests without `Origin` are passed on unchanged. `docs/reference/auth.md#cors`
 */
export function cors(policy: OriginPolicy, isExempt: (request: Request) => boolean, answer: Fetch): Fetch {
  const withOrigin = async (origin: string, request: Request, ...rest: unknown[]): Promise<Response> => {
    const headers = isExempt(request) ? {} : headersFor(policy, origin);
    const asked = request.headers;
    if (request.method === "OPTIONS" && asked.has("Access-Control-Request-Method"))
      return preflight(headers, asked.get("Access-Control-Request-Headers"));
    const response = await answer(request, ...rest);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
  return (request, ...rest) => {
    const origin = request.headers.get("Origin");
    return origin === null ? answer(request, ...rest) : withOrigin(origin, request, ...rest);
  };
}

function headersFor(policy: OriginPolicy, origin: string): Record<string, string> {
  const allowed = allowOrigin(policy, origin);
  if (allowed === null) return {};
  return {
    "Access-Control-Allow-Origin": allowed,
    "Access-Control-Expose-Headers": "ETag, Idempotency-Replayed, Retry-After",
    ...(policy.cookies ? { "Access-Control-Allow-Credentials": "true" } : {}),
  };
}

function preflight(headers: Readonly<Record<string, string>>, requested: string | null): Response {
  const answer = new Headers({ ...everyAnswer, Vary: "Origin, Access-Control-Request-Headers" });
  if (Object.keys(headers).length > 0) {
    for (const [name, value] of Object.entries(headers)) answer.set(name, value);
    answer.set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE, QUERY");
    if (requested !== null) answer.set("Access-Control-Allow-Headers", requested);
    answer.set("Access-Control-Max-Age", preflightSeconds);
  }
  return new Response(null, { status: 204, headers: answer });
}
