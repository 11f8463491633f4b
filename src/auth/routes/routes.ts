import { type Context, Hono, type MiddlewareHandler } from "hono";
import { isRefusal, Refusal } from "../../http/refusal.js";
import { UnavailableError } from "../../platform/database.js";
import { HasherBusyError } from "../../platform/platform.js";
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

/** Specification 5.5: a failure of storage or of the hasher is 503 `auth_unavailable`. */
async function respond(handle: () => Promise<Response | Refusal>): Promise<Response> {
  try {
    const answer = await handle();
    return isRefusal(answer) ? answer.toResponse() : answer;
  } catch (error) {
    if (error instanceof UnavailableError || error instanceof HasherBusyError)
      return unavailable.toResponse();
    throw error;
  }
}

const unavailable = new Refusal("auth_unavailable", "authentication is unavailable at the moment");
