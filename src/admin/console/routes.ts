import type { Context, MiddlewareHandler } from "hono";
import { consoleOrigin } from "../../auth/callers/console-origin.js";
import type { Caller } from "../../auth/callers/principal.js";
import type { AuthContext, AuthRequest, CallerRequest } from "../../auth/context.js";
import { refuse } from "../../http/by-method.js";
import type { OwnOrigin } from "../../http/origin.js";
import { isRefusal, type Refusal, responseOf } from "../../http/refusal.js";
import { router } from "../../http/router.js";
import { confirmSession, deleteSession, getSession, type OwnPageRequest, postSession } from "./session.js";
import { postSetup } from "./setup.js";

type Env = { Variables: { caller: Caller } };
type Handler<R> = (given: R) => Promise<Response | Refusal>;

/** What `consoleRoutes` needs to answer the requests about sessions of the console. */
export interface ConsoleServices {
  readonly auth: AuthContext;
  /**
   * What is known of the origin (scheme, host and port) that the console is served at: the configured one, and whether
   * headers of a proxy may say that a request came over HTTPS.
   */
  readonly own: OwnOrigin;
  /**
   * Returns what the client of a request is counted by: its IPv4 address, or the /64 network of its IPv6 address
   * (`addressUnit`).
   */
  readonly addressOf: (c: Context) => string;
  /**
   * Two middlewares. `guard` is `consoleGuard`: it refuses requests with the console's cookie that a page of another
   * site has sent. `identified` finds the caller of a request, also by the console's cookie.
   */
  readonly guard: MiddlewareHandler;
  readonly identified: MiddlewareHandler;
}

/**
 * Makes the routes under /admin/api by which people sign in to the console and out of it (docs/console.md). They have
 * to be added before the other routes under /admin/api, which refuse every request with an invalid cookie: signing in
 * has to work even with such a cookie.
 */
export function consoleRoutes({ auth, own, addressOf, guard, identified }: ConsoleServices) {
  const routes = router<Env>();
  const given = (c: Context): AuthRequest => ({
    request: c.req.raw,
    context: auth,
    address: addressOf(c),
    name: "",
  });
  const ofOwnPage = (handle: Handler<OwnPageRequest>) => async (c: Context) => {
    const origin = consoleOrigin(own, c.req.raw);
    return responseOf(isRefusal(origin) ? origin : await handle({ ...given(c), origin }));
  };
  const ofCaller = (handle: Handler<CallerRequest>) => async (c: Context<Env>) =>
    responseOf(await handle({ ...given(c), caller: c.var.caller }));
  routes.post("/session", ofOwnPage(postSession));
  routes.delete("/session", ofOwnPage(deleteSession));
  routes.get("/session", guard, identified, ofCaller(getSession));
  routes.all("/session", refuse("GET", "POST", "DELETE"));
  routes.post("/session/confirm", guard, identified, ofCaller(confirmSession));
  routes.all("/session/confirm", refuse("POST"));
  routes.post("/setup", ofOwnPage(postSetup));
  routes.all("/setup", refuse("POST"));
  return routes;
}
