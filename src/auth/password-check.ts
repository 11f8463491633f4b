import type { Refusal } from "../http/refusal.js";
import type { Database, Result, Statement } from "../platform/database.js";
import type { CheckedRow } from "./authenticate.js";
import type { AuthContext } from "./context.js";
import { checkPassword } from "./passwords.js";
import { schemaVersionCheck } from "./store/checks.js";
import { userByEmail } from "./store/users.js";

/** An account that can sign in with a password. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly emailVerified: boolean;
  readonly passwordHash: string;
}

/** The outcome of a password check that the throttle allowed. */
export interface PasswordCheck {
  /** Null unless the password is right and the account is enabled. */
  readonly account: Account | null;
  /** Statements that take the counted failure back, to be run in the batch that a successful attempt writes. */
  readonly forgive: readonly Statement[];
  /**
   * The client's address, hashed as in the table `_known_addresses`, which holds the addresses that users have signed
   * in from.
   */
  readonly addressKey: string;
  /** The row that `schemaVersionCheck` returned in the same round trip, for `AuthContext.settings`. */
  readonly schemaVersion: CheckedRow;
}

/**
 * Checks a password, unless too many have failed: then it refuses with `rate_limited`. An unknown address, a wrong
 * password and a disabled account all take one batch and one hash, so that they cannot be told apart by time. `address`
 * is the client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`).
 */
export async function checkAccountPassword(
  { platform, throttle }: AuthContext,
  emailKey: string,
  address: string,
  password: string,
): Promise<PasswordCheck | Refusal> {
  const attempt = await throttle.attempt({ emailKey, address, now: platform.clock.now() });
  const { forgive, addressKey } = attempt;
  const [version, found, ...counted] = await platform.database.batch([
    schemaVersionCheck(),
    userByEmail(emailKey),
    ...attempt.count,
  ]);
  const refusal = await attempt.judge(counted);
  if (refusal !== null) return refusal;
  const stored = (found!.rows[0]?.[5] ?? null) as string | null;
  const matches = await orForgive(platform.database, forgive, () =>
    checkPassword(platform.passwordHasher, password, stored, { address, isFor: "sign_in" }),
  );
  return {
    account: matches ? enabledAccount(found!) : null,
    forgive,
    addressKey,
    schemaVersion: version!.rows[0]!,
  };
}

/**
 * Runs `work` for an attempt whose password was not found to be wrong. Where it throws, as with a busy server or
 * failing storage, the counted failure is taken back and the error is thrown on.
 */
export async function orForgive<T>(
  database: Database,
  forgive: readonly Statement[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // If taking the failure back fails too, the first error is the one to report.
    await database.batch(forgive).catch(() => {});
    throw error;
  }
}

function enabledAccount({ rows: [row] }: Result): Account | null {
  const [id, email, role, disabled, verified, passwordHash] = row as [
    id: string,
    email: string,
    role: string,
    disabled: number,
    verified: number,
    passwordHash: string,
  ];
  return disabled === 1 ? null : { id, email, role, emailVerified: verified === 1, passwordHash };
}
