import type { Context } from "hono";
import { methodNotAllowed } from "./refusal.js";

type Handler = (c: Context) => Response | Promise<Response>;

/** 405, with the methods that are allowed instead. */
export const refuse =
  (...allowed: readonly string[]): Handler =>
  () =>
    methodNotAllowed(...allowed).toResponse();

/**
 * The one handler of a path: Hono's way through several of them costs as much as looking up a row. HEAD is answered as GET is
 * (RFC 9110, section 9.3.2); for methods that are not allowed there is `other`.
 */
export function byMethod(handlers: Readonly<Record<string, Handler>>, other = refuse): Handler {
  const known = new Map(Object.entries(handlers));
  const refused = other(...known.keys());
  return (c) => (known.get(c.req.method === "HEAD" ? "GET" : c.req.method) ?? refused)(c);
}
