import type { Keyring } from "../../encoding/keyring.js";
import { type SqlValue, type Statement, statement } from "../../platform/database.js";

/** An attempt that is to be counted. Times are milliseconds. */
export interface ThrottledAttempt {
  /** The hash of what is counted, such as an address. */
  readonly key: string;
  readonly max: number;
  readonly now: number;
  readonly windowMs: number;
}

/**
 * Counts an attempt before its outcome is known, so that concurrent attempts cannot pass the limit together. Returns
 * a row where the attempt is within the limit. A window that has ended starts anew, and so does one that begins in
 * the future because the clock was set back.
 */
export function countAttempt({ key, max, now, windowMs }: ThrottledAttempt): Statement {
  return statement(
    `INSERT INTO _throttle (key, started_at, count) VALUES (?, ?, 1) ${countAgain("?")} RETURNING count`,
    key,
    BigInt(now),
    ...countAgainParams([BigInt(max)], now, windowMs),
  );
}

/**
 * As `countAttempt`, directly behind another count in a batch: an attempt that the other count refuses is not counted
 * here.
 */
export function countAttemptBehind(attempt: ThrottledAttempt): Statement {
  return countBehind(attempt, "?", [BigInt(attempt.max)]);
}

/**
 * As `countAttemptBehind`, but past the limit one more attempt is within it after `backoffMs`, one more after three times
 * that, seven times, and so on (`strangersMayTryAt`); and without a limit for an address that the account has signed in
 * from before, so that strangers elsewhere cannot lock the owner out. `address` is hashed.
 */
export function countStrangersAttemptBehind(
  attempt: ThrottledAttempt & { readonly backoffMs: number },
  emailKey: string,
  address: string,
): Statement {
  const max = BigInt(attempt.max);
  // The count goes on where the owner's own failures pass the limit, so the shift is bounded.
  const isLetThrough = `(EXISTS (
    SELECT 1 FROM _known_addresses k JOIN _users u ON u.id = k.user_id WHERE u.email_key = ? AND k.address = ?
  ) OR ? - started_at >= ? * ((1 << min(count - ? + 1, 32)) - 1))`;
  return countBehind(attempt, `? OR ${isLetThrough}`, [
    max,
    emailKey,
    address,
    BigInt(attempt.now),
    BigInt(attempt.backoffMs),
    max,
  ]);
}

function countBehind(
  { key, now, windowMs }: ThrottledAttempt,
  max: string,
  maxParams: readonly SqlValue[],
): Statement {
  return statement(
    `INSERT INTO _throttle (key, started_at, count) SELECT ?, ?, 1 WHERE changes() = 1 ${countAgain(max)} RETURNING count`,
    key,
    BigInt(now),
    ...countAgainParams(maxParams, now, windowMs),
  );
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
export interface ThrottledMail extends ThrottledAttempt {
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

/** Takes an attempt back that was not a failure. */
export function forgiveAttempt(key: string): Statement {
  return statement("UPDATE _throttle SET count = count - 1 WHERE key = ? AND count > 0", key);
}

/** Returns `[started_at, count]`, from which Retry-After is computed. */
export function counterOf(key: string): Statement {
  return statement("SELECT started_at, count FROM _throttle WHERE key = ?", key);
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
