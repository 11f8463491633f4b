import type { MiddlewareHandler } from "hono";
import type { Attempt, Meter } from "./attempt.js";

/** Makes an attempt of each request, whose work is metered whatever becomes of it. */
export function metered(meter: Meter): MiddlewareHandler<{ Variables: { attempt: Attempt } }> {
  return async (c, next) => {
    const attempt = meter(c.req.method);
    c.set("attempt", attempt);
    await next();
    await attempt.end(c.res.status);
  };
}
