import { isRefusal, Refusal } from "../../http/refusal.js";
import type { Statement } from "../../platform/database.js";
import type { Caller } from "../callers/principal.js";
import { emailKey } from "../email.js";
import type { Condition } from "../store/condition.js";
import { callerSignedInSince, callerWithPassword } from "../store/sessions.js";
import { checkAccountPassword, finishAttempt, type PasswordServices } from "./password-check.js";
import { presentedPasswordProblem } from "./passwords.js";

/**
 * For how long a sign-in proves that the user of the session is the owner of the account, where the account has no
 * password to prove it by; in milliseconds: five minutes.
 */
const recentSignInMs = 300_000;

/**
 * A request of a user that needs more proof than the session, which somebody may have stolen: the account's owner has
 * to send the password or to have signed in lately.
 */
export interface OwnersRequest {
  readonly caller: Extract<Caller, { readonly kind: "user" }>;
  /** The account's password as the request has sent it; null where it has sent none. */
  readonly password: string | null;
  /** The client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`). */
  readonly address: string;
}

/**
 * Proof that the caller is the owner of the account. The statements that rely on it have to contain the condition
 * `owner`, so that they do nothing if the proof no longer holds when they run.
 */
export interface OwnerProof {
  /**
   * A condition on the columns of `_users AS u`. It matches the caller's row as long as the proof holds, and no row
   * otherwise.
   */
  readonly owner: Condition;
  /**
   * A password attempt is counted as failed before its outcome is known. These statements take that back, and go into
   * the same batch as the statements that rely on the proof.
   */
  readonly forgive: readonly Statement[];
  /** What to answer where the condition `owner` matches no row. */
  readonly refusal: Refusal;
}

/** The refusal of a wrong current password. It is 403, because a client takes 401 for the end of the session. */
export const wrongPassword = new Refusal("invalid_credentials", "the current password is wrong", {
  status: 403,
});

const passwordNeeded = new Refusal(
  "password_needed",
  "send the account's password; where it has none, sign in again, and ask within five minutes of that",
);

/**
 * Runs `work` with proof that the caller is the owner of the account: the right password, or for an account without one
 * a sign-in of the last five minutes. A wrong password is refused and counts like a failed login. If `work` throws, the
 * attempt does not count as failed.
 */
export async function asOwner<T>(
  services: PasswordServices,
  { caller, password, address }: OwnersRequest,
  work: (proof: OwnerProof) => Promise<T>,
): Promise<T | Refusal> {
  const { database, clock } = services.platform;
  if (password === null) {
    const owner = callerSignedInSince(caller, clock.now() - recentSignInMs);
    return work({ owner, forgive: [], refusal: passwordNeeded });
  }
  const problem = presentedPasswordProblem(password);
  if (problem !== null) return problem;
  const checked = await checkAccountPassword(services, emailKey(caller.email), address, password);
  if (isRefusal(checked)) return checked;
  const { account, attempt } = checked;
  if (account === null) return wrongPassword;
  const owner = callerWithPassword(caller, account.passwordHash);
  return finishAttempt(database, attempt, () => work({ owner, forgive: attempt.forgive, refusal: wrongPassword }));
}
