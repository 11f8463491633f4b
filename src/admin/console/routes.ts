import type { Context, MiddlewareHandler } from "hono";
import { consoleOrigin } from "../../auth/console-origin.js";
import type { AuthContext, AuthRequest, CallerRequest } from "../../auth/context.js";
import type { Caller } from "../../auth/principal.js";
import { refuse } from "../../http/by-method.js";
import type { OwnOrigin } from "../../http/origin.js";
import { isRefusal, type Refusal, responseOf } from "../../http/refusal.js";
import { router } from "../../http/router.js";
import { confirmSession, deleteSession, getSession, type OwnPageRequest, postSession } from "./session.js";
import { postSetup } from "./setup.js";

type Env = { Variables: { caller: Caller } };
type Handler<R> = (given: R) => Promise<Response | Refusal>;

/** What the routes of the console's session need. */
export interface ConsoleServices {
  readonly auth: AuthContext;
  /** The origin that the console is served at. */
  readonly own: OwnOrigin;
  /** The client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`). */
  readonly addressOf: (c: Context) => string;
  /**
   * `consoleGuard`, which refuses requests of foreign pages; `identified` finds the callers, the console's among them.
   */
  readonly guard: MiddlewareHandler;
  readonly identified: MiddlewareHandler;
}

/**
 * Makes the routes under /admin/api for the console's own session (docs/console.md). They come before the other routes
 * there, because signing in has to work even with a cookie that is no longer valid.
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
