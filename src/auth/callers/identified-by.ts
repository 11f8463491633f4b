import type { MiddlewareHandler } from "hono";
import { addFacts } from "../../http/answer-facts.js";
import { RequestBody } from "../../http/body.js";
import { isRefusal } from "../../http/refusal.js";
import type { Callers } from "./callers.js";
import type { Caller } from "./principal.js";

/** What the middleware of `identifiedBy` leaves in `c.var`. */
export interface Identified {
  readonly caller: Caller;
  readonly body: RequestBody;
}

/**
 * Makes a middleware that finds the caller of a request in a round trip of its own, and leaves them in `c.var.caller`,
 * with the request's body in `c.var.body`.
 * It first reads the request's body, of `bodyBytesMax` bytes at most: otherwise a client could pass the check, send the
 * body slowly, and have it accepted after the session has ended.
 */
export function identifiedBy(callers: Callers, bodyBytesMax: number): MiddlewareHandler<{ Variables: Identified }> {
  return async (c, next) => {
    const body = new RequestBody(c.req.raw, bodyBytesMax);
    await body.ahead();
    const identity = await callers.identify(c.req.raw.headers);
    if (isRefusal(identity)) return identity.toResponse();
    c.set("caller", identity.caller);
    c.set("body", body);
    await next();
    addFacts(c.req.raw, c.res, { principal: identity.caller });
    return undefined;
  };
}
