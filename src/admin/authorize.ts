import { backendRefusal } from "../auth/backend-refusal.js";
import type { Caller } from "../auth/principal.js";
import { Refusal } from "../http/refusal.js";

/** Admin routes take a user of role `admin` or a `project:backend` key. Null: go on. */
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
