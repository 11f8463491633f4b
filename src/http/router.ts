import type { Env } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { Hono } from "hono/tiny";

/** Answers a request, as a router does or what stands around it. */
export type Fetch = Hono["fetch"];

/** Hono with the router that finds its way fastest, once it is made; on a Worker with another (see `worker/router.ts`). */
export function router<E extends Env>(): Hono<E> {
  const hono = new Hono<E>();
  hono.router = new RegExpRouter();
  return hono;
}
