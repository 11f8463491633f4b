import { constant, flag, instant, object, oneOf, ref, type Static, text } from "./schema.js";
import type { TokenUser } from "./users.js";

const kind = oneOf("tokens", "console");

/** The schema of a session in the list of the caller's own. */
export const userSession = object({
  id: text,
  kind,
  created_at: text,
  last_used_at: text,
  expires_at: text,
  current: flag,
});
/** A session in the list of the caller's own. */
export type UserSession = Static<typeof userSession>;

/** The schema of a session in the list for administrators. */
export const listedSession = object({
  id: text,
  user_id: text,
  kind,
  created_at: instant,
  last_used_at: instant,
  expires_at: instant,
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
