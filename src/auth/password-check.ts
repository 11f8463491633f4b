import type { Refusal } from "../http/refusal.js";
import type { Database, Result, Statement } from "../platform/database.js";
import type { CheckedRow } from "./authenticate.js";
import type { AuthContext } from "./context.js";
import { checkPassword } from "./passwords.js";
import { schemaVersionCheck } from "./store/checks.js";
import { userByEmail } from "./store/users.js";

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly emailVerified: boolean;
  readonly passwordHash: string;
}

export interface PasswordCheck {
  /** Null unless the password is right and the account is enabled. */
  readonly account: Account | null;
  /** For the batch that a success writes: the attempt was no failure. */
  readonly forgive: readonly Statement[];
  /** How the client's address is remembered. */
  readonly addressKey: string;
  /** For `settings`. */
  readonly schemaVersion: CheckedRow;
}

/**
 * Checks a password under the throttle. Whatever is wrong, if anything, it takes one batch and one hash.
 * `address` is the client's, by `addressUnit`.
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
    checkPassword(platform.passwordHasher, password, stored),
  );
  return {
    account: matches ? enabledAccount(found!) : null,
    forgive,
    addressKey,
    schemaVersion: version!.rows[0]!,
  };
}

/**
 * Work of an attempt whose password nobody has found to be wrong: where it fails, as a busy server or storage does, that
 * is no failure of the attempt.
 */
export async function orForgive<T>(
  database: Database,
  forgive: readonly Statement[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The storage may still be away, which is why the work failed; that is the error to tell.
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
