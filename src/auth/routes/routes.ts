import { type Context, Hono, type MiddlewareHandler } from "hono";
import { isRefusal, Refusal } from "../../http/refusal.js";
import { UnavailableError } from "../../platform/database.js";
import { HasherBusyError, type Log } from "../../platform/platform.js";
import type { Caller } from "../principal.js";
import type { AuthContext } from "./context.js";
import { login } from "./login.js";
import { logout } from "./logout.js";
import { me } from "./me.js";
import { changeOwnPassword } from "./password.js";
import { refresh } from "./refresh.js";
import { register } from "./register.js";

type Env = { Variables: { caller: Caller } };
/** `address` is the client's, by `addressUnit`. */
type Handler = (request: Request, context: AuthContext, address: string) => Promise<Response | Refusal>;

/** /auth (specification 4.1). `authenticated` finds out who calls, for the routes that ask. */
export function authRoutes(
  context: AuthContext,
  authenticated: MiddlewareHandler,
  addressOf: (c: Context) => string,
) {
  const routes = new Hono<Env>();
  routes.onError(unavailableFor(context.platform.log));
  const posts: readonly (readonly [string, Handler])[] = [
    ["/register", register],
    ["/login", login],
    ["/refresh", refresh],
    ["/logout", logout],
  ];
  for (const [path, handle] of posts) {
    routes.post(path, async (c) => respond(() => handle(c.req.raw, context, addressOf(c))));
    routes.all(path, () => methodNotAllowed.toResponse());
  }
  routes.get("/me", authenticated, async (c) => respond(() => me(c.get("caller"), context)));
  routes.all("/me", () => methodNotAllowed.toResponse());
  routes.post("/password", authenticated, async (c) =>
    respond(() => changeOwnPassword(c.req.raw, context, addressOf(c), c.get("caller"))),
  );
  routes.all("/password", () => methodNotAllowed.toResponse());
  return routes;
}

const methodNotAllowed = new Refusal("method_not_allowed", "no such method here");

/**
 * Specification 5.5: whatever fails inside, be it storage, the hasher or the making of a token, is 503
 * `auth_unavailable`. What nobody expected is logged beside.
 */
function unavailableFor(log: Log): (error: Error) => Response {
  return (error) => {
    const expected = error instanceof UnavailableError || error instanceof HasherBusyError;
    if (!expected) log.error("authentication failed", error);
    return unavailable.toResponse();
  };
}

async function respond(handle: () => Promise<Response | Refusal>): Promise<Response> {
  const answer = await handle();
  return isRefusal(answer) ? answer.toResponse() : answer;
}

const unavailable = new Refusal("auth_unavailable", "authentication is unavailable at the moment");
