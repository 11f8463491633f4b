import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath } from "hono/utils/url";

/** The pattern of the route that answers a request, such as `/api/:table`; `-` where there is none. */
export type RouteOf = (request: Request) => string;

/** Matches as Hono does, among the patterns of an application's routes. Those of middleware, with a `*`, do not count. */
export function createRouteOf(patterns: readonly string[]): RouteOf {
  const router = new RegExpRouter<string>();
  for (const pattern of new Set(patterns)) if (!pattern.includes("*")) router.add("ALL", pattern, pattern);
  return (request) => {
    const path = getPath(request);
    const route = router.match("GET", path)[0][0]?.[0] ?? none;
    // One pattern of the application is wider than what it answers: see `tableRoutes`.
    if (route !== "/api/:table/:id/key") return route;
    return path.endsWith("/_svc/key") ? "/api/:table/_svc/key" : none;
  };
}

const none = "-";
