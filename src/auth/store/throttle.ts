import type { Keyring } from "../../encoding/keyring.js";
import { type SqlValue, type Statement, statement } from "../../platform/database.js";

/** What is counted in a window, and how often at most. */
export interface Throttled {
  /** The hash of what is counted, such as an address. */
  readonly key: string;
  readonly max: number;
}

/** When something is counted, in milliseconds. */
export interface Counted {
  readonly now: number;
  readonly windowMs: number;
}

/** An attempt to sign in, which is counted under three keys. */
export interface ThrottledAttempts extends Counted {
  readonly both: Throttled;
  readonly ofAddress: Throttled;
  readonly ofAccount: Throttled;
  readonly emailKey: string;
  /** The hash that stands for the client's address in `_known_addresses`. */
  readonly addressKey: string;
}

/**
 * Counts an attempt under all of its keys before its outcome is known, so that concurrent attempts cannot pass a limit
 * together. Returns rows where all limits allow it; otherwise nothing is counted, so that what is refused writes
 * nothing, and a stranger who is refused cannot use up limits that other people share. A window that has ended starts
 * anew, and so does one that begins in the future because the clock was set back.
 */
export function countAttempts(attempts: ThrottledAttempts): Statement {
  const { both, ofAddress, ofAccount, now, windowMs } = attempts;
  return statement(
    `INSERT INTO _throttle (key, started_at, count) SELECT value, ?, 1 FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM _throttle WHERE ${isUsedUp}) ${countAgain(String(Number.MAX_SAFE_INTEGER))} RETURNING count`,
    BigInt(now),
    JSON.stringify([both.key, ofAddress.key, ofAccount.key]),
    ...usedUpParams(attempts),
    ...countAgainParams([], now, windowMs),
  );
}

/** Returns `[started_at]` of the last window in which a limit is used up, from which Retry-After is computed, or NULL. */
export function windowStart(attempts: ThrottledAttempts): Statement {
  return statement(`SELECT max(started_at) FROM _throttle WHERE ${isUsedUp}`, ...usedUpParams(attempts));
}

/**
 * The limit of an account does not hold for an address that it has signed in from before, so that strangers elsewhere
 * cannot lock the owner out.
 */
const isUsedUp = `? - started_at < ? AND started_at <= ? AND (key = ? AND count >= ? OR key = ? AND count >= ?
    OR key = ? AND count >= ? AND NOT EXISTS (
      SELECT 1 FROM _known_addresses k JOIN _users u ON u.id = k.user_id WHERE u.email_key = ? AND k.address = ?))`;

function usedUpParams({ now, windowMs, emailKey, addressKey, ...limits }: ThrottledAttempts) {
  const { both, ofAddress, ofAccount } = limits;
  const keys = [both, ofAddress, ofAccount].flatMap(({ key, max }) => [key, BigInt(max)]);
  return [BigInt(now), BigInt(windowMs), BigInt(now), ...keys, emailKey, addressKey];
}

const ended = "(? - started_at >= ? OR started_at > ?)";
const countAgain = (max: string) => `ON CONFLICT (key) DO UPDATE SET
  count = CASE WHEN ${ended} THEN 1 ELSE count + 1 END,
  started_at = CASE WHEN ${ended} THEN excluded.started_at ELSE started_at END
  WHERE count < ${max} OR ${ended}`;

function countAgainParams(
  maxParams: readonly SqlValue[],
  now: number,
  windowMs: number,
): readonly SqlValue[] {
  const window = [BigInt(now), BigInt(windowMs), BigInt(now)];
  return [...window, ...window, ...maxParams, ...window];
}

/** A mail that is to be counted. */
export interface ThrottledMail extends Throttled, Counted {
  /** The key that is counted instead of `key` where the address has no account. */
  readonly unknownKey: string;
  readonly emailKey: string;
}

/** Counts a mail to an address. The statement changes a row exactly if the mail is within the limit. */
export function countMail({ key, unknownKey, emailKey, max, now, windowMs }: ThrottledMail): Statement {
  return statement(
    `INSERT INTO _throttle (key, started_at, count)
    SELECT iif(EXISTS (SELECT 1 FROM _users WHERE email_key = ?), ?, ?), ?, 1 WHERE true ${countAgain("?")}`,
    emailKey,
    key,
    unknownKey,
    BigInt(now),
    ...countAgainParams([BigInt(max)], now, windowMs),
  );
}

/** Takes back an attempt that was not a failure. Under a key that counts no other, nothing is left. */
export function forgiveAttempts(keys: readonly [string, string, string]): readonly Statement[] {
  return [
    statement("DELETE FROM _throttle WHERE key IN (?, ?, ?) AND count <= 1", ...keys),
    statement("UPDATE _throttle SET count = count - 1 WHERE key IN (?, ?, ?)", ...keys),
  ];
}

/**
 * Gives a counter the key of the current secret where it has that of the previous one; nothing where there is no
 * previous secret. A counter that is there already is kept.
 */
export function moveCounter({ current, previous }: Keyring<string>): readonly Statement[] {
  if (previous === null) return [];
  return [statement("UPDATE OR IGNORE _throttle SET key = ? WHERE key = ?", current, previous)];
}

/** As `moveCounter`, for an address that an account is known to sign in from. */
export function moveKnownAddress(
  emailKey: string,
  { current, previous }: Keyring<string>,
): readonly Statement[] {
  if (previous === null) return [];
  return [
    statement(
      `UPDATE OR IGNORE _known_addresses SET address = ?
      WHERE user_id = (SELECT id FROM _users WHERE email_key = ?) AND address = ?`,
      current,
      emailKey,
      previous,
    ),
  ];
}

/** Remembers that the user has signed in from an address. `address` is hashed. */
export function rememberAddress(userId: string, address: string): Statement {
  return statement(
    `INSERT INTO _known_addresses (user_id, address) SELECT id, ? FROM _users WHERE id = ?
    ON CONFLICT DO NOTHING`,
    address,
    userId,
  );
}
