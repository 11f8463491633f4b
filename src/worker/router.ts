import type { Env } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { Hono } from "hono/tiny";

/** `http/router.ts` of a Worker: the router that is smaller, and made sooner. */
export function router<E extends Env>(): Hono<E> {
  const hono = new Hono<E>();
  hono.router = new TrieRouter();
  return hono;
}
