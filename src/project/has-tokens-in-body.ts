import type { Config } from "./config.js";

/**
 * Whether token responses hold the tokens themselves, beside the cookies of cookie mode or without any: what stands in a
 * body, any script of the page can take (docs/reference/auth.md).
 */
export function hasTokensInBody({ auth }: Config): boolean {
  return !auth.cookie_mode || auth.cookie_tokens_in_body;
}
