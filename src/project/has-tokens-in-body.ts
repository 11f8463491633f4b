import type { Config } from "./config.js";

/**
 * Whether responses that hand out tokens have them in the body, where every script of a page can read them, and not in
 * cookies alone (docs/reference/auth.md#cookie-mode).
 */
export function hasTokensInBody({ auth }: Config): boolean {
  return !auth.cookie_mode || auth.cookie_tokens_in_body;
}
