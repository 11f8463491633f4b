import type { AnswerFacts } from "../http/answer-facts.js";
import { type Endings, type Endpoint, routePattern } from "../http/endpoint.js";
import type { SecurityEvent } from "../http/security-event.js";

/** By method and route, such as `POST /auth/login`. */
export type EndingsByRoute = ReadonlyMap<string, Endings>;

/** Collects the security events that endpoints name. */
export function endingsOf(endpoints: readonly Endpoint[]): EndingsByRoute {
  return new Map(
    endpoints.flatMap((endpoint) =>
      endpoint.events ? [[`${endpoint.method} ${loggedRoute(endpoint)}`, endpoint.events]] : [],
    ),
  );
}

/** A path that is a case of a wider pattern is a route of its own in the log (`createRouteOf`). */
const loggedRoute = ({ path }: Endpoint) => routePattern({ path });

/** Other codes, such as `bad_request`, say only that the request was malformed. */
const refusesCredential: ReadonlySet<string> = new Set([
  "invalid_credentials",
  "invalid_refresh_token",
  "invalid_token",
  "email_not_verified",
  "registration_closed",
  "conflict",
]);

/** Null for a request that has nothing to do with security. */
export function eventOf(
  method: string,
  route: string,
  status: number,
  { event, code }: AnswerFacts,
  endings: EndingsByRoute,
): SecurityEvent | null {
  if (event !== undefined) return event;
  const ending = endings.get(`${method} ${route}`);
  const isAdmins = route.startsWith("/admin/api/");
  if (status < 400) return ending?.[0] ?? (isAdmins ? "admin_read" : null);
  if (status === 429) return route.startsWith("/auth/") || ending?.[1] ? "throttled" : null;
  if (ending?.[1] && code !== undefined && refusesCredential.has(code)) return ending[1];
  if (status === 401 || status === 403) return "access_refused";
  return isAdmins ? "admin_failed" : null;
}
