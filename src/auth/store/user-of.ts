import type { Result } from "../../platform/database.js";

/** Makes of a row of `userById` an object with the field names of the HTTP interface. */
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

/** Makes of a row of `listUsers` an object with the field names of the HTTP interface. */
export function listedUserOf(row: Result["rows"][number]) {
  return { ...userOf(row), created_by: row[6] };
}
