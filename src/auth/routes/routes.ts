import type { Context, MiddlewareHandler } from "hono";
import { tellOf } from "../../http/answer-facts.js";
import { byMethod, refuse } from "../../http/by-method.js";
import { Refusal, responseOf } from "../../http/refusal.js";
import { router } from "../../http/router.js";
import { UnavailableError } from "../../platform/database.js";
import { HasherBusyError, type Log } from "../../platform/platform.js";
import type { Callers } from "../callers/callers.js";
import { anonymous, type Caller } from "../callers/principal.js";
import type { AuthContext, AuthRequest, CallerRequest, IdentifiedRequest } from "../context.js";
import { deleteMe } from "./delete-me.js";
import { confirmEmailChange, requestEmailChange } from "./email.js";
import { confirmVerification, resendVerification } from "./email-verification.js";
import { importIdentities } from "./import-users.js";
import { acceptInvitation, invite } from "./invitations.js";
import { login } from "./login.js";
import { logout } from "./logout.js";
import { me } from "./me.js";
import { authorize } from "./oauth-authorize.js";
import { callback } from "./oauth-callback.js";
import { exchange } from "./oauth-exchange.js";
import { listProviders } from "./oauth-providers.js";
import { showPage, submitPage } from "./pages.js";
import { changeOwnPassword } from "./password.js";
import { confirmPasswordReset, requestPasswordReset } from "./password-reset.js";
import { refresh } from "./refresh.js";
import { register } from "./register.js";
import { endOwnSession, listSessions } from "./sessions.js";

type Env = { Variables: { caller: Caller } };
type Handler<R> = (given: R) => Promise<Response | Refusal>;

/**
 * Makes the routes under /auth (docs/reference/http.md#endpoints). `authenticated` is a middleware that finds the
 * caller in a round trip of its own, for endpoints with a body whose answer depends on the caller. `addressOf` returns
 * the client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`).
 */
export function authRoutes(
  context: AuthContext,
  callers: Callers,
  authenticated: MiddlewareHandler,
  addressOf: (c: Context) => string,
) {
  const routes = router<Env>();
  routes.onError(unavailableFor(context.platform.log));
  const given = (c: Context): AuthRequest => ({
    request: c.req.raw,
    context,
    address: addressOf(c),
    name: c.req.param("name") ?? c.req.param("id") ?? "",
  });
  const answering = (handle: Handler<AuthRequest>) => async (c: Context) =>
    responseOf(await handle(given(c)));
  const posts: readonly (readonly [string, Handler<AuthRequest>])[] = [
    ["/register", register],
    ["/login", login],
    ["/refresh", refresh],
    ["/logout", logout],
    ["/email-verification/resend", resendVerification],
    ["/email-verification/confirm", confirmVerification],
    ["/invitations/accept", acceptInvitation],
    ["/password-reset/request", requestPasswordReset],
    ["/password-reset/confirm", confirmPasswordReset],
    ["/email/confirm", confirmEmailChange],
    ["/oauth/authorize", authorize],
    ["/oauth/exchange", exchange],
  ];
  for (const [path, handle] of posts) routes.all(path, byMethod({ POST: answering(handle) }));
  const identified = (handle: Handler<IdentifiedRequest>) => async (c: Context) => {
    const { raw } = c.req;
    let by: Caller = anonymous;
    const answer = responseOf(
      await callers.run(raw.headers, ({ caller }, database) => {
        by = caller;
        return handle({ ...given(c), caller, database });
      }),
    );
    if (answer.status === 200) tellOf(raw, answer, { principal: by });
    return answer;
  };
  const whoseBody = (handle: Handler<CallerRequest>) => async (c: Context<Env>) =>
    responseOf(await handle({ ...given(c), caller: c.get("caller") }));
  routes.delete("/me", authenticated, whoseBody(deleteMe));
  routes.all(
    "/me",
    byMethod({ GET: identified(me) }, (...others) => refuse(...others, "DELETE")),
  );
  routes.all("/sessions", byMethod({ GET: identified(listSessions) }));
  routes.all("/sessions/:id", byMethod({ DELETE: identified(endOwnSession) }));
  for (const [path, handle] of callersPosts) {
    routes.post(path, authenticated, whoseBody(handle));
    routes.all(path, refuse("POST"));
  }
  routes.all("/pages/:name", byMethod({ GET: answering(showPage), POST: answering(submitPage) }));
  routes.all("/oauth/providers", byMethod({ GET: answering(listProviders) }));
  routes.all("/oauth/callback/:name", answering(callback));
  return routes;
}

/**
 * The POST endpoints whose answer depends on the caller. The caller is found in a round trip of its own before the
 * handler runs.
 */
const callersPosts: readonly (readonly [string, Handler<CallerRequest>])[] = [
  ["/password", changeOwnPassword],
  ["/email", requestEmailChange],
  ["/users/import", importIdentities],
  ["/users/invite", invite],
];

/**
 * Makes the error handler of the routes under /auth. It answers every exception with 503 `auth_unavailable`, for which
 * clients keep their tokens. An exception is also logged, unless it says that the storage fails or the password hasher
 * is busy.
 */
function unavailableFor(log: Log): (error: Error) => Response {
  return (error) => {
    const expected = error instanceof UnavailableError || error instanceof HasherBusyError;
    if (!expected) log.error("authentication failed", error);
    return unavailable.toResponse();
  };
}

const unavailable = new Refusal("auth_unavailable", "authentication is unavailable at the moment");
