import type { Context } from "hono";
import { addFacts } from "../../http/answer-facts.js";
import { isRefusal, Refusal, responseOf } from "../../http/refusal.js";
import { routeEndpoints } from "../../http/route-endpoints.js";
import { router } from "../../http/router.js";
import { UnavailableError } from "../../platform/database.js";
import { HasherBusyError, type Log } from "../../platform/platform.js";
import type { AuthRequests } from "../auth-requests.js";
import type { Callers } from "../callers/callers.js";
import { anonymous, type Caller } from "../callers/principal.js";
import type { AuthEndpoint } from "../endpoint.js";
import { authEndpoints } from "./endpoints.js";

/** Makes the routes under /auth. */
export function authRoutes(log: Log, callers: Callers, { given, identified }: AuthRequests) {
  const routes = router();
  routes.onError(unavailableFor(log));
  const handlerOf = (endpoint: AuthEndpoint) => async (c: Context) => {
    if (endpoint.needs === "nothing") return responseOf(await endpoint.handle(given(c)));
    const { raw } = c.req;
    if (endpoint.needs === "caller first") {
      const known = await identified(c);
      return responseOf(isRefusal(known) ? known : await endpoint.handle(known));
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
