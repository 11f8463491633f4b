import { isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { effect, run, together } from "../../platform/query.js";
import { constant, data, nullOr, object, openObject } from "../../wire/schema.js";
import { deletionRefusal, lastAdmin, userDeletion } from "../accounts/user-deletion.js";
import { readOptionalPassword } from "../body.js";
import { notAUser } from "../callers/not-a-user.js";
import { longWorkFor } from "../callers/principal.js";
import type { CallerRequest } from "../context.js";
import { type AuthEndpoint, throttledErrors, users } from "../endpoint.js";
import { presentedPassword } from "../fields.js";
import { asOwner, type OwnerProof } from "../passwords/as-owner.js";
import { endCookies } from "../sessions/cookies.js";
import { matchesUser } from "../store/users.js";

/**
 * DELETE /auth/me: deletes the caller's own account with its sessions. Rows that refer to the account are deleted or
 * changed, or keep it from being deleted (409), as their foreign keys say (`ON DELETE`). The last enabled administrator
 * cannot be deleted (409). The body has to have the password; where the account has none, the caller has to have signed
 * in within the last five minutes.
 */
export const deleteMeEndpoint: AuthEndpoint = {
  method: "DELETE",
  path: "/auth/me",
  summary: "Deletes the own account, and what refers to it as foreign keys say",
  callers: users,
  takes: openObject({ password: nullOr(presentedPassword) }, "password"),
  answers: { 200: data(object({ deleted: constant(true) })) },
  errors: [...throttledErrors, 409],
  events: ["account_deleted", "account_deletion_failed"],
  needs: "caller first",
  handle: deleteMe,
};

async function deleteMe({ body: sent, context, caller, address }: CallerRequest): Promise<Response | Refusal> {
  const { platform, config } = context;
  if (caller.kind !== "user") return notAUser(caller);
  const password = await readOptionalPassword(sent);
  if (isRefusal(password)) return password;
  const remove = async ({ owner, forgive, refusal }: OwnerProof): Promise<Response | Refusal> => {
    const deletion = userDeletion({ id: caller.id, by: caller, now: platform.clock.now(), owner });
    const query = together(deletion, effect(...forgive), matchesUser(owner));
    const [isDeleted, , isThere] = await run(platform.database, query, longWorkFor(caller, config.api));
    if (isDeleted) return endCookies(config.auth, json({ data: { deleted: true } }));
    return isThere ? lastAdmin : refusal;
  };
  try {
    return await asOwner(context, { caller, password, address }, remove);
  } catch (error) {
    const refusal = deletionRefusal(error);
    if (refusal === null) throw error;
    return refusal;
  }
}
