import type { Statement } from "../../platform/database.js";
import { instant, statement } from "./statement.js";

const schemaVersion = "(SELECT max(version) FROM _schema)";

/** `[schema version]` */
export function schemaVersionCheck(): Statement {
  return statement(`SELECT ${schemaVersion}`);
}

/** `[schema version, user id, email, role]`; the user is NULL unless the session lives and the user is enabled. */
export function sessionCheck(sessionId: string): Statement {
  return statement(
    `SELECT ${schemaVersion}, u.id, u.email, u.role FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0`,
    sessionId,
  );
}

/** `[schema version, key id, scopes]`; the key is NULL unless it is neither revoked nor expired. */
export function apiKeyCheck(hash: string, now: number): Statement {
  return statement(
    `SELECT ${schemaVersion}, k.id, k.scopes FROM (SELECT 1)
    LEFT JOIN _service_keys k ON k.hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`,
    hash,
    instant(now),
  );
}
