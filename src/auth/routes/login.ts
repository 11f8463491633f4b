import { isRefusal, Refusal } from "../../http/refusal.js";
import type { Statement } from "../../platform/database.js";
import type { CheckedRow } from "../authenticate.js";
import { type EmailAndPassword, readEmailAndPassword } from "../body.js";
import { completeSignIn } from "../complete-sign-in.js";
import type { AuthContext, AuthRequest } from "../context.js";
import { emailKey } from "../email.js";
import { type Account, checkAccountPassword, finishAttempt, type PasswordCheck } from "../password-check.js";
import { presentedPasswordProblem } from "../passwords.js";
import { rememberAddress } from "../store/throttle.js";
import { changePassword, userWithPassword } from "../store/users.js";

/**
 * POST /auth/login. An unknown address, a wrong password, an account without a password and a disabled account cost
 * the same statements and one hash, and get the same answer.
 */
export async function login({ request, context, address }: AuthRequest): Promise<Response | Refusal> {
  const body = await readEmailAndPassword(request);
  if (isRefusal(body)) return body;
  const problem = presentedPasswordProblem(body.password);
  if (problem !== null) return problem;
  return logIn(context, body, address);
}

async function logIn(
  context: AuthContext,
  body: EmailAndPassword,
  address: string,
): Promise<Response | Refusal> {
  const { platform } = context;
  const checked = await checkAccountPassword(context, emailKey(body.email), address, body.password);
  if (isRefusal(checked)) return checked;
  const { account } = checked;
  if (account === null) return wrong;
  const answer = await finishAttempt(platform.database, checked.attempt, () =>
    answerTo(context, body, address, { ...checked, account }),
  );
  return answer ?? logIn(context, body, address);
}

/**
 * The answer to a right password. Null where another login has replaced the imported hash meanwhile, so that the
 * password has to be checked against the new one.
 */
async function answerTo(
  context: AuthContext,
  body: EmailAndPassword,
  address: string,
  { account, attempt, schemaVersion }: PasswordCheck & { readonly account: Account },
): Promise<Response | Refusal | null> {
  const { platform } = context;
  const unverified = await unverifiedRefusal(context, account, schemaVersion);
  if (unverified !== null) {
    await platform.database.batch(attempt.forgive);
    return unverified;
  }
  const { passwordHash, replace } = await currentHash(context, account, body.password, address);
  const factor = {
    before: replace,
    holder: userWithPassword(account.id, passwordHash),
    after: [...rememberAddress(account.id, attempt.addressKey), ...attempt.forgive],
  };
  return (await completeSignIn(context, factor, 200)) ?? (replace.length > 0 ? null : wrong);
}

/**
 * The refusal where the address has to be confirmed and is not. It comes after the password check, so that only the
 * account's owner learns of it.
 */
async function unverifiedRefusal(
  context: AuthContext,
  account: Account,
  version: CheckedRow,
): Promise<Refusal | null> {
  if (account.emailVerified) return null;
  const settings = await context.settings(version);
  if (isRefusal(settings)) return settings;
  return settings.emailVerification.required ? notVerified : null;
}

const notVerified = new Refusal("email_not_verified", "confirm the address first: the link is in your mail");

/**
 * The hash that the account has after this login. An imported hash is replaced by one with the current parameters,
 * which can be made only now, while the password is known.
 */
async function currentHash(
  { platform }: AuthContext,
  { id, passwordHash }: Account,
  password: string,
  address: string,
): Promise<{ readonly passwordHash: string; readonly replace: readonly Statement[] }> {
  if (platform.passwordHasher.standing(passwordHash) === "current") return { passwordHash, replace: [] };
  const next = await platform.passwordHasher.hash(password, { address, isFor: "sign_in" });
  return { passwordHash: next, replace: [changePassword(id, passwordHash, next)] };
}

const wrong = new Refusal("invalid_credentials", "the address or the password is wrong");
