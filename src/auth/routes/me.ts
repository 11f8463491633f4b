import { Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { ask } from "../../platform/query.js";
import { userAnswer } from "../../wire/users.js";
import { userOf } from "../accounts/user-of.js";
import { notAUser } from "../callers/not-a-user.js";
import type { IdentifiedRequest } from "../context.js";
import { type AuthEndpoint, users } from "../endpoint.js";
import { userById } from "../store/users.js";

/** GET /auth/me: the user whom the access token names. An API key gets 403, because it is not a user. */
export const meEndpoint: AuthEndpoint = {
  method: "GET",
  path: "/auth/me",
  summary: "The user who calls",
  callers: users,
  answers: { 200: userAnswer },
  errors: [401, 403, 503],
  needs: "caller",
  handle: me,
};

async function me({ caller, database }: IdentifiedRequest): Promise<Response | Refusal> {
  if (caller.kind !== "user") return notAUser(caller);
  const user = await ask(database, userById(caller.id));
  if (user === null) return new Refusal("unauthorized", "the user is gone");
  return json({ data: { user: userOf(user) } });
}
