import { Refusal } from "../http/refusal.js";
import type { Caller } from "./principal.js";

/**
 * Refuses callers without an API key of the scope `project:backend`: 401 for anonymous callers, 403 for users and other
 * keys. Null: the caller may go on.
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
