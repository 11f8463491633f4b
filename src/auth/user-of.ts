import type { Result } from "../platform/database.js";

/** A row of `userById` as an object with the field names of the HTTP interface. */
export function userOf([id, email, role, disabled, verified, createdAt]: Result["rows"][number]) {
  return {
    id,
    email,
    role,
    disabled: disabled === 1,
    email_verified: verified === 1,
    created_at: createdAt,
  };
}

/** A row of `listUsers` as an object with the field names of the HTTP interface. */
export function listedUserOf(row: Result["rows"][number]) {
  return { ...userOf(row), created_by: row[6] };
}
