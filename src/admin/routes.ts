import type { Context, MiddlewareHandler } from "hono";
import { unconfirmedRefusal } from "../auth/callers/confirmation.js";
import type { Identified } from "../auth/callers/identified-by.js";
import { Refusal, responseOf } from "../http/refusal.js";
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
 * Makes the routes under /admin/api (docs/reference/http.md#endpoints). A middleware that runs before them has to leave
 * the caller in `c.var.caller`, and the body in `c.var.body`.
 */
export function adminRoutes(services: AdminServices) {
  const routes = router<Env>();
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

/**
 * Makes the routes of the endpoints that tell how the server is doing. `identified` is a middleware that finds the
 * caller.
 */
export function serverRoutes(services: ServerServices, identified: MiddlewareHandler<Env>) {
  const routes = router<Env>();
  const handlerOf =
    ({ needs, handle }: ServerEndpoint) =>
    async (c: Context<Env>) => {
      const given = { request: c.req.raw, services };
      if (needs === "nothing") return responseOf(await handle(given));
      const refused = await identified(c, async () => {
        c.res = responseOf(adminRefusal(c.var.caller) ?? (await handle(given)));
      });
      return refused ?? c.res;
    };
  routeEndpoints(routes, "", serverEndpoints, handlerOf);
  return routes;
}
