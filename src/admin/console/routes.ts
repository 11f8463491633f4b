import type { Context } from "hono";
import type { AuthRequests } from "../../auth/auth-requests.js";
import { consoleOrigin, consoleRefusal } from "../../auth/callers/console-origin.js";
import type { OwnOrigin } from "../../http/origin.js";
import { isRefusal, responseOf } from "../../http/refusal.js";
import { routeEndpoints } from "../../http/route-endpoints.js";
import { router } from "../../http/router.js";
import type { ConsoleFiles } from "../../platform/console-files.js";
import type { ConsoleEndpoint } from "./endpoint.js";
import { consoleEndpoints } from "./endpoints.js";

/** What `consoleRoutes` needs to answer requests for the console's page and about its sessions. */
export interface ConsoleServices {
  /** The files of the console; null where the runtime serves them without these routes. */
  readonly files: ConsoleFiles | null;
  /**
   * What is known of the origin (scheme, host and port) that the console is served at: the configured one, and whether
   * headers of a proxy may say that a request came over HTTPS.
   */
  readonly own: OwnOrigin;
  /** Finds the caller of a request also by the console's cookie. */
  readonly requests: AuthRequests;
}

/**
 * Makes the routes of the console's page and those under /admin/api by which people sign in to the console and out of it
 * (docs/console.md). They have to be added before the other routes under /admin/api, which refuse every request with an
 * invalid cookie: signing in has to work even with such a cookie.
 */
export function consoleRoutes({ files, own, requests: { given, identified } }: ConsoleServices) {
  const routes = router();
  const handlerOf = (endpoint: ConsoleEndpoint) => async (c: Context) => {
    const { raw: request } = c.req;
    if (endpoint.needs === "nothing")
      return responseOf(await endpoint.handle({ request, files, name: c.req.param("name") ?? "" }));
    if (endpoint.needs === "own page") {
      const origin = consoleOrigin(own, request);
      return responseOf(isRefusal(origin) ? origin : await endpoint.handle({ ...given(c), origin }));
    }
    const foreign = consoleRefusal(own, request);
    if (foreign !== null) return foreign.toResponse();
    const known = await identified(c);
    return responseOf(isRefusal(known) ? known : await endpoint.handle(known));
  };
  routeEndpoints(routes, "", consoleEndpoints, handlerOf);
  return routes;
}
