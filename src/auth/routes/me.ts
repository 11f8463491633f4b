import { Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { type User, userAnswer } from "../../wire/users.js";
import { notAUser } from "../callers/not-a-user.js";
import type { IdentifiedRequest } from "../context.js";
import { type AuthEndpoint, users } from "../endpoint.js";
import { userOf } from "../store/user-of.js";
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
  const [found] = await database.query([userById(caller.id)]);
  const [row] = found!.rows;
  if (row === undefined) return new Refusal("unauthorized", "the user is gone");
  return json({ data: { user: userOf(row) as User } });
}
