/**
 * The events of the lines of the request log with `security: true`; `docs/reference/log.md#events` says when each is
 * written.
 */
export const securityEvents = [
  "sign_in",
  "sign_in_failed",
  "session_confirmed",
  "first_admin_made",
  "registration",
  "registration_failed",
  "throttled",
  "logout",
  "token_refused",
  "refresh_reuse",
  "password_changed",
  "password_change_failed",
  "password_reset",
  "email_change_requested",
  "email_change_failed",
  "email_changed",
  "account_deleted",
  "account_deletion_failed",
  "session_ended",
  "link_requested",
  "link_used",
  "link_refused",
  "invitation_sent",
  "users_imported",
  "user_created",
  "user_promoted",
  "user_demoted",
  "user_disabled",
  "user_enabled",
  "user_deleted",
  "sessions_revoked",
  "key_created",
  "key_revoked",
  "schema_applied",
  "rows_changed",
  "operation_run",
  "admin_read",
  "admin_failed",
  "access_refused",
  "cross_site_refused",
] as const;

/** One of `securityEvents`. */
export type SecurityEvent = (typeof securityEvents)[number];
