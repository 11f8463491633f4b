import { Refusal } from "../http/refusal.js";
import type { Caller } from "./principal.js";

/** The refusal, at an endpoint for users alone, of any other caller: 403 for an API key, 401 for everybody else. */
export function notAUser(caller: Caller): Refusal {
  return caller.kind === "key"
    ? new Refusal("forbidden", "an API key is not a user")
    : new Refusal("unauthorized", "sign in to do this");
}
