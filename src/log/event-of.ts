import type { AnswerFacts } from "../http/answer-facts.js";
import type { SecurityEvent } from "../http/security-event.js";

/**
 * The security events with which the request log marks the answers of an endpoint: one for a success, and one for a
 * refusal of the password, token or link that the request presented. Null where there is no such event.
 */
type Endings = readonly [success: SecurityEvent | null, refused: SecurityEvent | null];

/**
 * The endpoints whose answers can be security events in the request log, by method and route. Every POST, PATCH and
 * DELETE under /auth and /admin/api is here, so that a new one is not forgotten.
 */
export const endings: Readonly<Record<string, Endings>> = {
  "POST /auth/register": ["registration", "registration_failed"],
  "POST /auth/login": ["sign_in", "sign_in_failed"],
  "POST /auth/refresh": [null, "token_refused"],
  "POST /auth/logout": ["logout", "token_refused"],
  "POST /auth/password": ["password_changed", "password_change_failed"],
  "POST /auth/email": ["email_change_requested", "email_change_failed"],
  "POST /auth/email/confirm": ["email_changed", "link_refused"],
  "DELETE /auth/me": ["account_deleted", "account_deletion_failed"],
  "DELETE /auth/sessions/:id": ["session_ended", null],
  "POST /auth/email-verification/resend": ["link_requested", null],
  "POST /auth/email-verification/confirm": ["sign_in", "sign_in_failed"],
  "POST /auth/invitations/accept": ["sign_in", "sign_in_failed"],
  "POST /auth/password-reset/request": ["link_requested", null],
  "POST /auth/password-reset/confirm": ["password_reset", "link_refused"],
  "POST /auth/pages/:name": ["link_used", "link_refused"],
  "POST /auth/oauth/authorize": [null, null],
  "POST /auth/oauth/exchange": ["sign_in", "sign_in_failed"],
  "GET /auth/oauth/callback/:name": [null, "sign_in_failed"],
  "POST /auth/oauth/callback/:name": [null, "sign_in_failed"],
  "POST /auth/users/import": ["users_imported", null],
  "POST /auth/users/invite": ["invitation_sent", null],
  "POST /admin/api/session": ["sign_in", "sign_in_failed"],
  "DELETE /admin/api/session": ["logout", null],
  "POST /admin/api/session/confirm": ["session_confirmed", "sign_in_failed"],
  "POST /admin/api/setup": ["first_admin_made", "link_refused"],
  "POST /admin/api/schema/plan": ["admin_read", null],
  "POST /admin/api/explain": ["admin_read", null],
  "POST /admin/api/schema/apply": ["schema_applied", null],
  "POST /admin/api/users": ["user_created", null],
  // A change of a user has no event here: the handler names the event itself, depending on what it has changed.
  "PATCH /admin/api/users/:id": [null, null],
  "DELETE /admin/api/users/:id": ["user_deleted", null],
  "POST /admin/api/users/:id/revoke-sessions": ["sessions_revoked", null],
  "POST /admin/api/revoke-sessions": ["sessions_revoked", null],
  "POST /admin/api/service-keys": ["key_created", null],
  "DELETE /admin/api/service-keys/:id": ["key_revoked", null],
  "POST /admin/api/users/invite": ["invitation_sent", null],
  "DELETE /admin/api/sessions/:id": ["sessions_revoked", null],
  "POST /admin/api/data/:table": ["rows_changed", null],
  "PATCH /admin/api/data/:table/:id": ["rows_changed", null],
  "DELETE /admin/api/data/:table/:id": ["rows_changed", null],
  "PATCH /admin/api/data/:table/_svc/key": ["rows_changed", null],
  "DELETE /admin/api/data/:table/_svc/key": ["rows_changed", null],
  "POST /admin/api/data/:table/_svc/query": ["admin_read", null],
  "POST /admin/api/data/:table/_svc/restore": ["rows_changed", null],
  "POST /admin/api/data/_svc/pull": ["admin_read", null],
  "POST /admin/api/data/_svc/live": ["admin_read", null],
  "POST /admin/api/data/_svc/batch": ["rows_changed", null],
  "POST /admin/api/operations/:name": ["operation_run", null],
};

/**
 * The error codes by which a password, token, link or registration is refused. Other codes, such as `bad_request`, say
 * only that the request was malformed.
 */
const refusesCredential: ReadonlySet<string> = new Set([
  "invalid_credentials",
  "invalid_refresh_token",
  "invalid_token",
  "email_not_verified",
  "registration_closed",
  "conflict",
]);

/**
 * Returns the security event of a request that was answered, for the request log; null for a request that has nothing
 * to do with security.
 */
export function eventOf(
  method: string,
  route: string,
  status: number,
  { event, code }: AnswerFacts,
): SecurityEvent | null {
  if (event !== undefined) return event;
  const ending = endings[`${method} ${route}`];
  const isAdmins = route.startsWith("/admin/api/");
  if (status < 400) return ending?.[0] ?? (isAdmins ? "admin_read" : null);
  if (status === 429) return route.startsWith("/auth/") || ending?.[1] ? "throttled" : null;
  if (ending?.[1] && code !== undefined && refusesCredential.has(code)) return ending[1];
  if (status === 401 || status === 403) return "access_refused";
  return isAdmins ? "admin_failed" : null;
}
