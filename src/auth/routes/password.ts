import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { effect, run, together } from "../../platform/query.js";
import { count, data, object, openObject } from "../../wire/schema.js";
import { readAuthBody } from "../body.js";
import { notAUser } from "../callers/not-a-user.js";
import type { CallerRequest } from "../context.js";
import { emailKey } from "../email.js";
import { type AuthEndpoint, throttledErrors, users } from "../endpoint.js";
import { presentedPassword } from "../fields.js";
import { wrongPassword } from "../passwords/as-owner.js";
import { checkAccountPassword, finishAttempt } from "../passwords/password-check.js";
import { hashPassword, ownAddressProblem, passwordProblem, presentedPasswordProblem } from "../passwords/passwords.js";
import { endCookies } from "../sessions/cookies.js";
import { deleteOpeningsIfChanged } from "../store/links.js";
import { revokeSessionsIfChanged } from "../store/sessions.js";
import { knowOnlyAddressIfChanged } from "../store/throttle.js";
import { changePassword } from "../store/users.js";

/**
 * POST /auth/password: replaces the caller's own password and ends every session, the calling one included. A wrong
 * current password counts like a failed login.
 */
export const changeOwnPasswordEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/password",
  summary: "Replaces the password, and ends every session",
  callers: users,
  takes: (password) => openObject({ current_password: presentedPassword, password }),
  answers: { 200: data(object({ revoked_sessions: count })) },
  errors: throttledErrors,
  events: ["password_changed", "password_change_failed"],
  needs: "caller first",
  handle: changeOwnPassword,
};

async function changeOwnPassword({ body: sent, context, address, caller }: CallerRequest): Promise<Response | Refusal> {
  const { platform, config } = context;
  if (caller.kind !== "user") return notAUser(caller);
  const body = await readAuthBody(sent);
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
  if (account === null) return wrongPassword;
  const [isChanged, ended] = await finishAttempt(platform.database, attempt, async () => {
    const next = await hashPassword(platform.passwordHasher, password, { address, isFor: "sign_in" });
    const change = together(
      changePassword(account.id, account.passwordHash, next),
      revokeSessionsIfChanged(account.id, next, platform.clock.now()),
      effect(
        ...deleteOpeningsIfChanged(account.id, next),
        ...knowOnlyAddressIfChanged(account.id, next, attempt.addressKey),
        ...attempt.forgive,
      ),
    );
    return run(platform.database, change);
  });
  return isChanged ? endCookies(config.auth, json({ data: { revoked_sessions: ended } })) : wrongPassword;
}
