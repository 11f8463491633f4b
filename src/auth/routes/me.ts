import { Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import type { Statements } from "../../platform/database.js";
import type { Caller } from "../principal.js";
import { userById } from "../store/users.js";
import { userOf } from "../user-of.js";

/** GET /auth/me: the user of the access token. An API key is 403, because it is not a user. */
export async function me(caller: Caller, database: Statements): Promise<Response | Refusal> {
  if (caller.kind === "anonymous") return new Refusal("unauthorized", "sign in to do this");
  if (caller.kind === "key") return new Refusal("forbidden", "an API key is not a user");
  const [found] = await database.query([userById(caller.id)]);
  const [row] = found!.rows;
  if (row === undefined) return new Refusal("unauthorized", "the user is gone");
  return json({ data: { user: userOf(row) } });
}
