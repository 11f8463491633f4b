import { type Env, Hono } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import type { BlankEnv } from "hono/types";

/** Answers a request: a router, or a wrapper around one such as `cors`. */
export type Fetch = Hono["fetch"];

/**
 * A Hono application with Hono's fastest router. That router throws for route patterns that it does not support; Hono's
 * default would silently fall back to a slower one.
 */
export function router<E extends Env = BlankEnv>(): Hono<E> {
  return new Hono<E>({ router: new RegExpRouter() });
}
