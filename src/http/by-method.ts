import type { Context } from "hono";
import { methodNotAllowed } from "./refusal.js";

type RouteHandler = (c: Context) => Response | Promise<Response>;

/** Makes a handler that answers 405 and names the allowed methods in the header `Allow`. */
const refuse =
  (...allowed: readonly string[]): RouteHandler =>
  () =>
    methodNotAllowed(...allowed).toResponse();

/**
 * Makes one handler for all methods of a path. It is registered once instead of once per method, because Hono takes as
 * long to go through several handlers as it takes to look up a row. HEAD is answered as GET is (RFC 9110, section
 * 9.3.2). `other` is given the names of the methods in `handlers`, and makes the handler for all other methods, by
 * default one that answers 405.
 */
export function byMethod(handlers: Readonly<Record<string, RouteHandler>>, other = refuse): RouteHandler {
  const known = new Map(Object.entries(handlers));
  const refused = other(...known.keys());
  return (c) => (known.get(c.req.method === "HEAD" ? "GET" : c.req.method) ?? refused)(c);
}
