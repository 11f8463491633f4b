import type { Context } from "hono";
import { unconfirmedRefusal } from "../auth/callers/confirmation.js";
import type { Identified, Identify } from "../auth/callers/identified-by.js";
import { isRefusal, Refusal, responseOf } from "../http/refusal.js";
import { routeEndpoints } from "../http/route-endpoints.js";
import { router } from "../http/router.js";
import { adminRefusal } from "./authorize.js";
import type { AdminEndpoint, ServerEndpoint } from "./endpoint.js";
import { adminEndpoints, serverEndpoints } from "./endpoints.js";
import type { AdminServices, ServerServices } from "./services.js";

type Env = { Variables: Identified };

/** The answer where the id in the path has a NUL character, which no stored id has. */
const nothingThere = new Refusal("not_found", "no such resource");

/**
 * Makes the routes under /admin/api (docs/reference/http.md#endpoints). Invalid credentials are refused at every path,
 * also at one that has no endpoint.
 */
export function adminRoutes(services: AdminServices, identify: Identify) {
  const routes = router<Env>();
  routes.use(async (c, next) => {
    const known = await identify(c.req.raw);
    if (isRefusal(known)) return known.toResponse();
    c.set("caller", known.caller);
    c.set("body", known.body);
    return next();
  });
  const handlerOf =
    ({ needs, handle }: AdminEndpoint) =>
    async (c: Context<Env>) => {
      const { caller, body } = c.var;
      const id = c.req.param("id") ?? "";
      const unconfirmed = needs === "password" ? unconfirmedRefusal(caller, services.platform.clock.now()) : null;
      const answer =
        adminRefusal(caller) ??
        unconfirmed ??
        (id.includes("\0") ? nothingThere : await handle({ request: c.req.raw, body, services, id, caller }));
      return responseOf(answer);
    };
  routeEndpoints(routes, "/admin/api", adminEndpoints, handlerOf);
  return routes;
}

/** Makes the routes of the endpoints that tell how the server is doing. */
export function serverRoutes(services: ServerServices, identify: Identify) {
  const routes = router();
  const handlerOf =
    ({ needs, handle }: ServerEndpoint) =>
    async (c: Context) => {
      const given = { request: c.req.raw, services };
      if (needs === "nothing") return responseOf(await handle(given));
      const known = await identify(given.request);
      if (isRefusal(known)) return known.toResponse();
      return responseOf(adminRefusal(known.caller) ?? (await handle(given)));
    };
  routeEndpoints(routes, "", serverEndpoints, handlerOf);
  return routes;
}
