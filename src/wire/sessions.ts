import { constant, dateTime, flag, object, oneOf, ref, type Static, text, type WireSchema } from "./schema.js";
import type { TokenUser } from "./users.js";

const kind = oneOf("tokens", "console");

/** A session in the list of the caller's own, as `GET /auth/sessions` answers it. Times are ISO 8601. */
export interface UserSession {
  readonly id: string;
  /** `tokens`: has an access and a refresh token, like one of `client.auth`. `console`: a session of the console. */
  readonly kind: "tokens" | "console";
  readonly created_at: string;
  /** When the session's tokens were last renewed; when the session began, if they never were. */
  readonly last_used_at: string;
  /** When the session ends, unless its tokens are renewed before. */
  readonly expires_at: string;
  /** Whether this is the session that has asked for the list. */
  readonly current: boolean;
}

/** The schema of a session in the list of the caller's own. */
export const userSession: WireSchema<UserSession> = object({
  id: text,
  kind,
  created_at: text,
  last_used_at: text,
  expires_at: text,
  current: flag,
});

/** The schema of a session in the list for administrators. */
export const listedSession = object({
  id: text,
  user_id: text,
  kind,
  created_at: dateTime,
  last_used_at: dateTime,
  expires_at: dateTime,
});
/** A session in the list for administrators. */
export type ListedSession = Static<typeof listedSession>;

/** The schema of the answer that a session has ended. */
export const revoked = object({ revoked: constant(true) });
/** The answer that a session has ended. */
export type Revoked = Static<typeof revoked>;

/** The schema of who is signed in to the console, and until when. */
export const signedInAdmin = object({
  user: ref<TokenUser>("svc.tokenUser"),
  expires_at: text,
  confirmed_until: text,
});
/** Who is signed in to the console, until when, and until when the password counts as typed lately. */
export type SignedInAdmin = Static<typeof signedInAdmin>;
