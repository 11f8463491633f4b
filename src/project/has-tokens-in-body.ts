import type { Config } from "./config.js";

/**
 * Whether responses have tokens in the body, where every script of a page can read them
 * (docs/reference/auth.md#cookie-mode).
 */
export function hasTokensInBody({ auth }: Config): boolean {
  return !auth.cookie_mode || auth.cookie_tokens_in_body;
}
