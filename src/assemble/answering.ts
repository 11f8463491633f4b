import { isOfOwnPages } from "../auth/callers/console-origin.js";
import { cors } from "../http/cors.js";
import { identityBodies } from "../http/identity-bodies.js";
import { loopbackHostsOnly } from "../http/loopback-hosts-only.js";
import type { OriginPolicy } from "../http/origin.js";
import type { Fetch } from "../http/router.js";
import { strictTransportSecurity, transportSecurity } from "../http/transport-security.js";
import { createRequestLog } from "../log/request-log.js";
import { createRouteOf } from "../log/route-of.js";
import type { AppOptions } from "./app-options.js";
import { endings, parameterNames } from "./endpoints.js";
import type { Services } from "./services.js";

/**
 * Puts around a router what every request gets: CORS, the check of the host, transport security, metrics and the
 * request log.
 * @param paths the patterns of all routes, by which the log names a request's route
 */
export function createAnswering(
  { platform, config, loopbackOnly, clientAddress, addHeader }: AppOptions,
  { metrics, recent }: Services,
  paths: readonly string[],
): (router: { readonly fetch: Fetch }, policy: OriginPolicy) => Fetch {
  const { clock, random, log } = platform;
  const routeOf = createRouteOf(paths);
  const requestLog = createRequestLog({
    settings: config.log,
    clock,
    random,
    log,
    routeOf,
    endings,
    parameterNames,
    clientAddress,
    recent,
  });
  return (router, policy) => {
    const crossOrigin = cors(policy, isOfOwnPages, identityBodies(router.fetch));
    const answer = loopbackOnly ? loopbackHostsOnly(crossOrigin) : crossOrigin;
    const isStrict = transportSecurity(policy);
    return async (request, ...rest) => {
      const from = clock.elapsed();
      const response = await answer(request, ...rest);
      if (isStrict(request)) addHeader(response, strictTransportSecurity, rest[0]);
      const ms = clock.elapsed() - from;
      metrics.request(request.method, request.url, response.status, ms);
      requestLog(request, rest[0], response, ms);
      return response;
    };
  };
}
