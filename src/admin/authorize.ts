import { backendRefusal } from "../auth/callers/backend-refusal.js";
import type { Caller } from "../auth/callers/principal.js";
import { Refusal } from "../http/refusal.js";

/**
 * Judges who may use what is for administrators. Returns the refusal of callers who are neither users with the role
 * `admin` nor API keys with the scope `project:backend`: 401 for anonymous callers, 403 for others. Returns null for
 * callers who may.
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
