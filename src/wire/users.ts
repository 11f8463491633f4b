import { constant, count, data, flag, nullOr, object, ref, role, type Static, text } from "./schema.js";

const members = { id: text, email: text, role, disabled: flag, email_verified: flag, created_at: text };

/** The schema `svc.user`: a user. */
export const user = object(members);
/** A user. */
export type User = Static<typeof user>;

/** The answer that shows a user. */
export const userAnswer = data(object({ user: ref<User>("svc.user") }));

/** The schema `svc.someUser`: a user in a list, or those of its members that the list selects. */
export const someUser = object(
  { ...members, created_by: nullOr(text) },
  ...(Object.keys(members) as (keyof typeof members)[]),
  "created_by",
);
/** A user in a list that selects nothing, with who has made them. */
export type ListedUser = User & Required<Pick<Static<typeof someUser>, "created_by">>;

/** The schema `svc.tokenUser`: the user in the answer to a sign-in. */
export const tokenUser = object({ id: text, email: text, role });
/** The user in the answer to a sign-in. */
export type TokenUser = Static<typeof tokenUser>;

/** The schema `svc.tokens`: the answer to a sign-in or refresh. `tokensInBody` is false if cookies alone carry them. */
export const tokens = (tokensInBody: boolean) =>
  object({
    data: object({
      user: tokenUser,
      ...(tokensInBody && { access_token: text, refresh_token: text }),
      token_type: constant("Bearer"),
      expires_in: count,
    }),
  });

/** The answer of a request whose mail, if there is one, is on its way. */
export const acceptedAnswer = data(object({ accepted: constant(true) }));

/** The schema of what an administrator or a server is told of an invitation. */
export const sentInvitation = object({
  email: text,
  role,
  existing_user: flag,
  expires_in: nullOr(count),
});
/** What an administrator or a server is told of an invitation. */
export type SentInvitation = Static<typeof sentInvitation>;

/** The schema of the sessions that a request has ended, by their number. */
export const revokedSessions = object({ revoked_sessions: count });
/** The sessions that a request has ended, by their number. */
export type RevokedSessions = Static<typeof revokedSessions>;
