import { type Env, Hono } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";

/** Answers a request, as a router does or what stands around it. */
export type Fetch = Hono["fetch"];

/**
 * Hono with its fastest router alone, which throws for a path that it cannot serve. Hono's default would go on with a slower
 * one, and not say so.
 */
export function router<E extends Env>(): Hono<E> {
  return new Hono<E>({ router: new RegExpRouter() });
}
