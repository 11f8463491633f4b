import { Refusal } from "../../http/refusal.js";
import type { Caller } from "./principal.js";

/**
 * Judges who may use what is for the application's own backend. Returns the refusal of callers without an API key of
 * the scope `project:backend`: 401 for anonymous callers, 403 for users and other keys. Returns null for callers who
 * may.
 */
export function backendRefusal(caller: Caller): Refusal | null {
  switch (caller.kind) {
    case "anonymous":
      return new Refusal("unauthorized", "send a project:backend key");
    case "user":
      return new Refusal("forbidden", "this is for project:backend keys, not for users");
    case "key":
      return caller.scopes.includes("project:backend")
        ? null
        : new Refusal("forbidden", "the key lacks the scope project:backend");
  }
}
