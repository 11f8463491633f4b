import type { Env } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { Hono } from "hono/tiny";

/** With what Hono would choose for our paths, without the routers that it would choose from. */
export function router<E extends Env>(): Hono<E> {
  const hono = new Hono<E>();
  hono.router = new TrieRouter();
  return hono;
}
