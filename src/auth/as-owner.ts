import { isRefusal, Refusal } from "../http/refusal.js";
import type { Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import { emailKey } from "./email.js";
import { checkAccountPassword, finishAttempt } from "./password-check.js";
import { presentedPasswordProblem } from "./passwords.js";
import type { Caller } from "./principal.js";
import type { Condition } from "./store/condition.js";
import { callerSignedInSince, callerWithPassword } from "./store/sessions.js";

/**
 * How long after a sign-in, in milliseconds, the session proves that its user is the owner of an account that has no
 * password: five minutes.
 */
export const recentSignInMs = 300_000;

/**
 * A request of a user for which a session alone is not enough, because it may have been stolen; the owner of the
 * account has to prove who they are.
 */
export interface OwnersRequest {
  readonly caller: Extract<Caller, { readonly kind: "user" }>;
  /** The account's password as the request has sent it; null where it has sent none. */
  readonly password: string | null;
  /** The client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`). */
  readonly address: string;
}

/** Proof that the caller is the owner of the account, to be tested by the statements that rely on it. */
export interface OwnerProof {
  /** A condition on the columns of `_users AS u`. It matches the caller as long as the proof holds, else nobody. */
  readonly owner: Condition;
  /**
   * Statements that take back that the attempt was counted as a failed one. They go into the batch of the statements
   * that rely on the proof.
   */
  readonly forgive: readonly Statement[];
  /** What to answer where the condition `owner` matches nobody. */
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
 * Runs `work` with proof that the caller is the owner of the account: the password, or for an account without one a
 * sign-in of the last five minutes. A wrong password counts like a failed login. Where `work` throws, the counted
 * failure is taken back.
 */
export async function asOwner<T>(
  context: AuthContext,
  { caller, password, address }: OwnersRequest,
  work: (proof: OwnerProof) => Promise<T>,
): Promise<T | Refusal> {
  const { database, clock } = context.platform;
  if (password === null) {
    const owner = callerSignedInSince(caller, clock.now() - recentSignInMs);
    return work({ owner, forgive: [], refusal: passwordNeeded });
  }
  const problem = presentedPasswordProblem(password);
  if (problem !== null) return problem;
  const checked = await checkAccountPassword(context, emailKey(caller.email), address, password);
  if (isRefusal(checked)) return checked;
  const { account, attempt } = checked;
  if (account === null) return wrongPassword;
  const owner = callerWithPassword(caller, account.passwordHash);
  return finishAttempt(database, attempt, () =>
    work({ owner, forgive: attempt.forgive, refusal: wrongPassword }),
  );
}
