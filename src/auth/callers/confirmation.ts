import { Refusal } from "../../http/refusal.js";
import type { Caller } from "./principal.js";

/**
 * Refuses, with 403 `password_needed`, callers from the console (the web page for administrators) who have not typed
 * their password within the last minutes: the request could come from a passer-by, at a screen that was left open.
 * Null: the caller may go on, as callers with access tokens or API keys always may. `now` is in milliseconds since the
 * epoch.
 */
export function unconfirmedRefusal(caller: Caller, now: number): Refusal | null {
  if (caller.kind !== "user" || caller.console === undefined) return null;
  return now < caller.console.confirmedUntilMs ? null : passwordNeeded;
}

const passwordNeeded = new Refusal(
  "password_needed",
  "type the password again: this needs a session whose password was typed within the last five minutes",
);
