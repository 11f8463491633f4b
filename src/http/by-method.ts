import type { Context } from "hono";
import { methodNotAllowed } from "./refusal.js";

type RouteHandler = (c: Context) => Response | Promise<Response>;

const refuse =
  (...allowed: readonly string[]): RouteHandler =>
  () =>
    methodNotAllowed(...allowed).toResponse();

/**
 * One handler for all methods of a path, because Hono takes as long to go through several handlers as it takes to look
 * up a row. HEAD is answered as GET is (RFC 9110, section 9.3.2). `other` makes the handler for methods that `handlers`
 * lacks, by default one that answers 405 with `Allow`.
 */
export function byMethod(handlers: Readonly<Record<string, RouteHandler>>, other = refuse): RouteHandler {
  const known = new Map(Object.entries(handlers));
  const refused = other(...known.keys());
  return (c) => (known.get(c.req.method === "HEAD" ? "GET" : c.req.method) ?? refused)(c);
}
