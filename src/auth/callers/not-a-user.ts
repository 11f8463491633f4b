import { Refusal } from "../../http/refusal.js";
import type { Caller } from "./principal.js";

/**
 * The refusal of a caller who is not a user, at an endpoint for users alone: 403 for an API key, 401 for everybody
 * else.
 */
export function notAUser(caller: Caller): Refusal {
  return caller.kind === "key"
    ? new Refusal("forbidden", "an API key is not a user")
    : new Refusal("unauthorized", "sign in to do this");
}
