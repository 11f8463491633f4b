import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath } from "hono/utils/url";

/** The pattern of the route that answers a request, such as `/api/:table`; `-` if there is none. */
export type RouteOf = (request: Request) => string;

/**
 * Finds routes among an application's path patterns as Hono does. Patterns with a `*` belong to middleware and are left
 * out.
 */
export function createRouteOf(patterns: readonly string[]): RouteOf {
  const router = new RegExpRouter<string>();
  for (const pattern of new Set(patterns)) if (!pattern.includes("*")) router.add("ALL", pattern, pattern);
  return (request) => {
    const path = getPath(request);
    if (literal.test(path)) return path;
    const route = router.match("GET", path)[0][0]?.[0] ?? none;
    // Hono's fastest router cannot tell `/api/:table/_svc/key` from `/api/:table/:id`. So the application has the wider
    // pattern `/api/:table/:id/key`, and answers only paths with `/_svc/` in that place.
    const [, at, last] = /^(.*)\/:table\/:id\/(\w+)$/.exec(route) ?? [];
    if (last === undefined) return route;
    return path.endsWith(`/_svc/${last}`) ? `${at}/:table/_svc/${last}` : none;
  };
}

/**
 * The paths without parameters that RegExpRouter cannot have as routes besides wider patterns, which answer them. In
 * the log each is its own route.
 */
const literal =
  /^(?:\/api\/_svc\/push|\/(?:admin\/api\/data|api)\/_svc\/(?:pull|live|batch)|\/admin\/api\/users\/invite)$/;

const none = "-";
