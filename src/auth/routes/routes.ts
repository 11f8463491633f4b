import type { Context } from "hono";
import { addFacts } from "../../http/answer-facts.js";
import { RequestBody } from "../../http/body.js";
import { isRefusal, Refusal, responseOf } from "../../http/refusal.js";
import { routeEndpoints } from "../../http/route-endpoints.js";
import { router } from "../../http/router.js";
import { UnavailableError } from "../../platform/database.js";
import { HasherBusyError, type Log } from "../../platform/platform.js";
import type { Callers } from "../callers/callers.js";
import type { Identify } from "../callers/identified-by.js";
import { anonymous, type Caller } from "../callers/principal.js";
import type { AuthContext, AuthRequest } from "../context.js";
import type { AuthEndpoint } from "../endpoint.js";
import { authEndpoints } from "./endpoints.js";

/**
 * Makes the routes under /auth. `addressOf` returns the client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`).
 */
export function authRoutes(
  context: AuthContext,
  callers: Callers,
  identify: Identify,
  addressOf: (c: Context) => string,
) {
  const routes = router();
  const bodyBytesMax = context.config.api.max_body_bytes;
  routes.onError(unavailableFor(context.platform.log));
  const given = (c: Context, body = new RequestBody(c.req.raw, bodyBytesMax)): AuthRequest => ({
    request: c.req.raw,
    body,
    context,
    address: addressOf(c),
    name: Object.values(c.req.param())[0] ?? "",
  });
  const handlerOf = (endpoint: AuthEndpoint) => async (c: Context) => {
    if (endpoint.needs === "nothing") return responseOf(await endpoint.handle(given(c)));
    const { raw } = c.req;
    if (endpoint.needs === "caller first") {
      const known = await identify(raw);
      if (isRefusal(known)) return known.toResponse();
      return responseOf(await endpoint.handle({ ...given(c, known.body), caller: known.caller }));
    }
    let by: Caller = anonymous;
    const answer = responseOf(
      await callers.run(raw.headers, ({ caller }, database) => {
        by = caller;
        return endpoint.handle({ ...given(c), caller, database });
      }),
    );
    if (answer.status === 200) addFacts(raw, answer, { principal: by });
    return answer;
  };
  routeEndpoints(routes, "/auth", authEndpoints, handlerOf);
  return routes;
}

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
