import type { RequestBody } from "../../http/body.js";
import { isRefusal, Refusal } from "../../http/refusal.js";
import type { Statement } from "../../platform/database.js";
import type { AuthSettings } from "../../project/model.js";
import { type EmailAndPassword, readEmailAndPassword } from "../body.js";
import { emailKey } from "../email.js";
import type { FirstFactor } from "../sessions/complete-sign-in.js";
import { rememberAddress } from "../store/throttle.js";
import { changePassword, userWithPassword } from "../store/users.js";
import {
  type Account,
  checkAccountPassword,
  finishAttempt,
  type PasswordCheck,
  type PasswordServices,
} from "./password-check.js";
import { hashPassword, presentedPasswordProblem } from "./passwords.js";

/** What a sign-in by password takes of the server. */
export interface SignInServices extends PasswordServices {
  /**
   * Returns the section `$auth` of the schema in force; a refusal where no schema can be served. `version` is the
   * version in force.
   */
  readonly settings: (version: number | null) => Promise<Pick<AuthSettings, "emailVerification"> | Refusal>;
}

/** A request to sign in, and from where it comes. */
export interface SignInRequest {
  readonly body: RequestBody;
  readonly context: SignInServices;
  /** The client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`). */
  readonly address: string;
}

/** What follows a right password. It differs between signing in to the API and to the console. */
export interface PasswordSignIn {
  /**
   * Why an account may not sign in although its password is right, such as a user without the role `admin` to the
   * console; null where it may.
   */
  refusalOf(account: Account): Refusal | null;
  /**
   * Opens a session and makes the answer. Null where `factor` finds no user any more who may have one, such as where
   * the password was changed since it was checked.
   */
  open(factor: FirstFactor): Promise<Response | null>;
}

/**
 * Signs a user in by `email` and `password` of the body, to the API or to the console. In both cases a wrong password
 * costs the same statements and hashes, counts in the same way, and gets the same answer.
 */
export async function signInWithPassword(
  { body: sent, context, address }: SignInRequest,
  into: PasswordSignIn,
): Promise<Response | Refusal> {
  const body = await readEmailAndPassword(sent);
  if (isRefusal(body)) return body;
  const problem = presentedPasswordProblem(body.password);
  if (problem !== null) return problem;
  return attempt({ context, body, address, into });
}

interface SignInAttempt {
  readonly context: SignInServices;
  readonly body: EmailAndPassword;
  readonly address: string;
  readonly into: PasswordSignIn;
}

async function attempt(attempted: SignInAttempt): Promise<Response | Refusal> {
  const { context, body, address } = attempted;
  const checked = await checkAccountPassword(context, emailKey(body.email), address, body.password);
  if (isRefusal(checked)) return checked;
  const { account } = checked;
  if (account === null) return wrong;
  const answer = await finishAttempt(context.platform.database, checked.attempt, () =>
    answerTo(attempted, { ...checked, account }),
  );
  return answer ?? attempt(attempted);
}

/**
 * Answers a sign-in with a right password. Null where this sign-in was to replace the stored hash by one with the
 * current parameters, but the account no longer had the hash that was checked, as when another sign-in has replaced it
 * at the same time: the password then has to be checked once more, against the hash that is stored now.
 */
async function answerTo(
  { context, body, address, into }: SignInAttempt,
  { account, form, attempt, schemaVersion }: PasswordCheck & { readonly account: Account },
): Promise<Response | Refusal | null> {
  const { platform } = context;
  const refusal = (await unverifiedRefusal(context, account, schemaVersion)) ?? into.refusalOf(account);
  if (refusal !== null) {
    await platform.database.batch(attempt.forgive);
    return refusal;
  }
  const { passwordHash, replace } =
    form === "nfc" && platform.passwordHasher.standing(account.passwordHash) === "current"
      ? { passwordHash: account.passwordHash, replace: [] }
      : await rehashed(context, account, body.password, address);
  const factor = {
    before: replace,
    holder: userWithPassword(account.id, passwordHash),
    after: [...rememberAddress(account.id, attempt.addressKey), ...attempt.forgive],
  };
  return (await into.open(factor)) ?? (replace.length > 0 ? null : wrong);
}

/**
 * The refusal of a sign-in where the project wants addresses confirmed and this one is not, or where the project's
 * settings cannot be had; null otherwise. It is made only after the password was found right, so that nobody but the
 * account's owner learns of it.
 */
async function unverifiedRefusal(
  context: SignInServices,
  account: Account,
  version: number | null,
): Promise<Refusal | null> {
  if (account.emailVerified) return null;
  const settings = await context.settings(version);
  if (isRefusal(settings)) return settings;
  return settings.emailVerification.required ? notVerified : null;
}

const notVerified = new Refusal("email_not_verified", "confirm the address first: the link is in your mail");

/**
 * Makes the password hash that the account has after this sign-in, and the statements that have to store it first. A
 * hash that was imported, or made with older parameters or of a password that is not in NFC, is replaced: that can be
 * done only now, while the password is known.
 */
async function rehashed(
  { platform }: SignInServices,
  { id, passwordHash }: Account,
  password: string,
  address: string,
): Promise<{ readonly passwordHash: string; readonly replace: readonly Statement[] }> {
  const next = await hashPassword(platform.passwordHasher, password, { address, isFor: "sign_in" });
  return { passwordHash: next, replace: changePassword(id, passwordHash, next).statements };
}

const wrong = new Refusal("invalid_credentials", "the address or the password is wrong");
