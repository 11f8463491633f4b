import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { readAuthBody } from "../body.js";
import type { CallerRequest } from "../context.js";
import { endCookies } from "../cookies.js";
import { emailKey } from "../email.js";
import { checkAccountPassword, finishAttempt } from "../password-check.js";
import { ownAddressProblem, passwordProblem, presentedPasswordProblem } from "../passwords.js";
import type { Caller } from "../principal.js";
import { deleteOpeningsIfChanged } from "../store/links.js";
import { revokeSessionsIfChanged } from "../store/sessions.js";
import { knowOnlyAddressIfChanged } from "../store/throttle.js";
import { changePassword } from "../store/users.js";

/**
 * POST /auth/password: replaces the caller's own password and ends every session, this one included. A wrong current
 * password counts like a failed login. It is 403, because a client takes 401 for the end of the session.
 */
export async function changeOwnPassword({
  request,
  context,
  address,
  caller,
}: CallerRequest): Promise<Response | Refusal> {
  const { platform, config } = context;
  if (caller.kind !== "user") return notAUser(caller);
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { current_password: current, password } = body;
  if (typeof current !== "string") return badRequest("current_password: expected a string");
  if (typeof password !== "string") return badRequest("password: expected a string");
  const problem =
    presentedPasswordProblem(current) ??
    passwordProblem(password, config.auth.password_min_length) ??
    ownAddressProblem(password, caller.email);
  if (problem !== null) return problem;
  const checked = await checkAccountPassword(context, emailKey(caller.email), address, current);
  if (isRefusal(checked)) return checked;
  const { account, attempt } = checked;
  if (account === null) return wrong;
  const [changed, revoked] = await finishAttempt(platform.database, attempt, async () => {
    const next = await platform.passwordHasher.hash(password, { address, isFor: "sign_in" });
    return platform.database.batch([
      changePassword(account.id, account.passwordHash, next),
      revokeSessionsIfChanged(account.id, next, platform.clock.now()),
      ...deleteOpeningsIfChanged(account.id, next),
      ...knowOnlyAddressIfChanged(account.id, next, attempt.addressKey),
      ...attempt.forgive,
    ]);
  });
  if (changed!.rows.length === 0) return wrong;
  return endCookies(config.auth, json({ data: { revoked_sessions: revoked!.rows.length } }));
}

const wrong = new Refusal("invalid_credentials", "the current password is wrong", { status: 403 });

function notAUser(caller: Caller): Refusal {
  return caller.kind === "key"
    ? new Refusal("forbidden", "an API key is not a user")
    : new Refusal("unauthorized", "sign in to do this");
}
