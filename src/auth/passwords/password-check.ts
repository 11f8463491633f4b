import type { Refusal } from "../../http/refusal.js";
import type { Database } from "../../platform/database.js";
import type { Platform } from "../../platform/platform.js";
import { run, together } from "../../platform/query.js";
import type { CountedAttempt, PasswordThrottle } from "../limits/throttle.js";
import { schemaVersion } from "../store/checks.js";
import { type StoredAccount, userByEmail } from "../store/users.js";
import { checkPassword, type PasswordForm } from "./passwords.js";

/** What checking a password takes of the server. */
export interface PasswordServices {
  readonly platform: Platform;
  readonly throttle: PasswordThrottle;
}

/** An account that can sign in with a password. */
export interface Account extends StoredAccount {
  readonly passwordHash: string;
}

/**
 * The outcome of a password check. There is one only where the limits of failed attempts have let the password be
 * checked.
 */
export interface PasswordCheck {
  /** The account; null unless the password is right and the account is enabled. */
  readonly account: Account | null;
  /** Which form of the password fits the account's hash; null where it is wrong. */
  readonly form: PasswordForm | null;
  /**
   * The attempt, which counts as a failed one until it is forgiven. Where `account` is not null, the rest of the
   * sign-in has to be done in `finishAttempt`.
   */
  readonly attempt: CountedAttempt;
  /**
   * The version of the schema in force, read in the same round trip. Passing it to `SignInServices.settings` saves reading
   * it again.
   */
  readonly schemaVersion: number | null;
}

/**
 * Checks the password of an account, unless too many attempts have failed: then refuses with `rate_limited`. An unknown
 * address, a wrong password and a disabled account all take one batch of statements and as many hashes, so that they
 * cannot be told apart by time. `address` is the client's IPv4 address, or the /64 network of its IPv6 address
 * (`addressUnit`).
 */
export async function checkAccountPassword(
  { platform, throttle }: PasswordServices,
  emailKey: string,
  address: string,
  password: string,
): Promise<PasswordCheck | Refusal> {
  const attempt = await throttle.attempt({ emailKey, address, now: platform.clock.now() });
  const [version, found, isCounted] = await run(
    platform.database,
    together(schemaVersion(), userByEmail(emailKey), attempt.count),
  );
  const refusal = await attempt.judge(isCounted);
  if (refusal !== null) return refusal;
  const stored = found?.passwordHash ?? null;
  const form = await orForgive(platform.database, attempt, () =>
    checkPassword(platform.passwordHasher, password, stored, { address, isFor: "sign_in" }),
  );
  const account = form === null ? null : enabledAccount(found);
  if (account === null) attempt.end();
  return { account, form, attempt, schemaVersion: version };
}

/**
 * Runs `work`, which is what remains to be done after the password was found right, and ends the attempt. `work` itself
 * has to run the statements `attempt.forgive`, so that the attempt does not count as failed. If it throws, for instance
 * because the storage fails, they are run here, and the error is thrown on.
 */
export async function finishAttempt<T>(
  database: Database,
  attempt: CountedAttempt,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await orForgive(database, attempt, work);
  } finally {
    attempt.end();
  }
}

async function orForgive<T>(database: Database, attempt: CountedAttempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // If taking back the counted failure fails too, the error of `work` is the one to report.
    await database.batch(attempt.forgive).catch(() => {});
    attempt.end();
    throw error;
  }
}

function enabledAccount(account: StoredAccount | null): Account | null {
  if (account === null || account.disabled || account.passwordHash === null) return null;
  return { ...account, passwordHash: account.passwordHash };
}
