import type { Context, Env, Hono } from "hono";
import { byMethod } from "./by-method.js";
import { type Endpoint, routePattern } from "./endpoint.js";

/** The order of methods in the header `Allow`. */
const methods: readonly Endpoint["method"][] = ["GET", "POST", "PATCH", "DELETE"];

/**
 * Adds endpoints to a router whose paths begin with `base`. Each path gets one handler, which answers methods without
 * an endpoint with 405.
 */
export function routeEndpoints<E extends Endpoint, V extends Env>(
  routes: Hono<V>,
  base: string,
  endpoints: readonly E[],
  handlerOf: (endpoint: E) => (c: Context<V>) => Response | Promise<Response>,
): void {
  for (const pattern of new Set(endpoints.map((endpoint) => routePattern(endpoint, base)))) {
    const those = methods.flatMap((method) =>
      endpoints.filter((endpoint) => endpoint.method === method && routePattern(endpoint, base) === pattern),
    );
    const handlers = Object.fromEntries(those.map((endpoint) => [endpoint.method, handlerOf(endpoint)]));
    const refusing = those.find(({ refusesMethods }) => refusesMethods);
    routes.all(pattern, byMethod(handlers, refusing && (() => handlerOf(refusing))));
  }
}
