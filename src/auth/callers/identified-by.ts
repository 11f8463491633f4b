import type { MiddlewareHandler } from "hono";
import { tellOf } from "../../http/answer-facts.js";
import { readAhead } from "../../http/body.js";
import { isRefusal } from "../../http/refusal.js";
import type { Callers } from "./callers.js";
import type { Caller } from "./principal.js";

/**
 * Makes a middleware that finds the caller of a request in a round trip of its own, and leaves them in `c.var.caller`.
 * It first reads the request's body, of `bodyBytesMax` bytes at most: otherwise a client could pass the check, send the
 * body slowly, and have it accepted after the session has ended.
 */
export function identifiedBy(
  callers: Callers,
  bodyBytesMax: number,
): MiddlewareHandler<{ Variables: { caller: Caller } }> {
  return async (c, next) => {
    await readAhead(c.req.raw, bodyBytesMax);
    const identity = await callers.identify(c.req.raw.headers);
    if (isRefusal(identity)) return identity.toResponse();
    c.set("caller", identity.caller);
    await next();
    tellOf(c.req.raw, c.res, { principal: identity.caller });
    return undefined;
  };
}
