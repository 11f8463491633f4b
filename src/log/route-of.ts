import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath } from "hono/utils/url";

/**
 * A function that returns the pattern of the route that answers a request, such as `/api/:table`; `-` where no route
 * does.
 */
export type RouteOf = (request: Request) => string;

/**
 * Makes a function that finds the route of a request among the path patterns of an application, as Hono does. Patterns
 * with a `*` are left out, because they belong to middleware.
 */
export function createRouteOf(patterns: readonly string[]): RouteOf {
  const router = new RegExpRouter<string>();
  for (const pattern of new Set(patterns)) if (!pattern.includes("*")) router.add("ALL", pattern, pattern);
  return (request) => {
    const path = getPath(request);
    if (literal.test(path)) return path;
    const route = router.match("GET", path)[0][0]?.[0] ?? none;
    // Hono's fastest router cannot tell `/api/:table/_svc/key` from `/api/:table/:id`. So the application has the wider
    // pattern `/api/:table/:id/key`, and answers only paths that have `/_svc/` in that place. For these the real route
    // is put together here.
    const [, at, last] = /^(.*)\/:table\/:id\/(\w+)$/.exec(route) ?? [];
    if (last === undefined) return route;
    return path.endsWith(`/_svc/${last}`) ? `${at}/:table/_svc/${last}` : none;
  };
}

/**
 * Matches the paths without parameters that RegExpRouter cannot have as routes beside wider patterns, so that a wider
 * pattern answers them. In the log each of them is its own route.
 */
const literal =
  /^(?:\/api\/_svc\/push|\/(?:admin\/api\/data|api)\/_svc\/(?:pull|live|batch)|\/admin\/api\/users\/invite)$/;

const none = "-";
