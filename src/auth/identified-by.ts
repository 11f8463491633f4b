import type { MiddlewareHandler } from "hono";
import { tellOf } from "../http/answer-facts.js";
import { readAhead } from "../http/body.js";
import { isRefusal } from "../http/refusal.js";
import type { Callers } from "./callers.js";
import type { Caller } from "./principal.js";

/**
 * Makes a middleware that finds the caller in a round trip of its own, and leaves it in `c.var.caller`. The request's
 * body, of `bodyBytesMax` bytes at most, is read before.
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
