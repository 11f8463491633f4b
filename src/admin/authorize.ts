import { backendRefusal } from "../auth/backend-refusal.js";
import type { Caller } from "../auth/principal.js";
import { Refusal } from "../http/refusal.js";

/**
 * Refuses callers who are neither a user with the role `admin` nor a `project:backend` key: 401 for anonymous
 * callers, 403 for others. Null: the caller may go on.
 */
export function adminRefusal(caller: Caller): Refusal | null {
  switch (caller.kind) {
    case "anonymous":
      return new Refusal("unauthorized", "sign in as an admin, or send a project:backend key");
    case "user":
      return caller.role === "admin" ? null : new Refusal("forbidden", "admins only");
    case "key":
      return backendRefusal(caller);
  }
}
