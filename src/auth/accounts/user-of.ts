import type { User } from "../../wire/users.js";
import type { StoredUser } from "../store/users.js";

/** Makes of a stored user what the HTTP interface shows. */
export function userOf({ id, email, role, disabled, emailVerified, createdAt }: StoredUser): User {
  return { id, email, role, disabled, email_verified: emailVerified, created_at: createdAt };
}
