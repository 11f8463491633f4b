import type { Endings, Endpoint } from "../http/endpoint.js";

/** The security events of the endpoints for administrators, by method and route. */
export const adminEndings: Readonly<Record<string, Endings>> = {
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

/** The query parameters of the endpoints for administrators. */
export const adminQueryNames: Endpoint = {
  method: "GET",
  path: "/admin/api",
  summary: "",
  undocumentedQuery: "base allow_destructive from to group_by user_id who status route token q".split(" "),
  answers: {},
  errors: [],
};
