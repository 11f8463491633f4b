import type { SqlValue, Statement } from "../../platform/database.js";
import { statement } from "./statement.js";

export interface ThrottledAttempt {
  /** What is counted, hashed. */
  readonly key: string;
  readonly max: number;
  readonly now: number;
  readonly windowMs: number;
}

/**
 * Counts an attempt before it is known how it ends, so that attempts at the same time cannot pass the limit together.
 * Returns a row where it was within the limit. A window that has ended, or begins in the future because the clock was
 * set back, starts anew.
 */
export function countAttempt({ key, max, now, windowMs }: ThrottledAttempt): Statement {
  return statement(
    `INSERT INTO _throttle (key, started_at, count) VALUES (?, ?, 1) ${countAgain("?")} RETURNING count`,
    key,
    BigInt(now),
    ...countAgainParams([BigInt(max)], now, windowMs),
  );
}

/** The same, behind another one in a batch: what that one refuses is not counted here. */
export function countAttemptBehind(attempt: ThrottledAttempt): Statement {
  return countBehind(attempt, "?", [BigInt(attempt.max)]);
}

/** The same, without a limit for an address that the account has signed in from: strangers elsewhere cannot lock its owner out. */
export function countStrangersAttemptBehind(
  attempt: ThrottledAttempt,
  emailKey: string,
  address: string,
): Statement {
  const max = `iif(EXISTS (
    SELECT 1 FROM _known_addresses k JOIN _users u ON u.id = k.user_id WHERE u.email_key = ? AND k.address = ?
  ), ${Number.MAX_SAFE_INTEGER}, ?)`;
  return countBehind(attempt, max, [emailKey, address, BigInt(attempt.max)]);
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

export interface ThrottledMail extends ThrottledAttempt {
  /** Counted instead of `key` where nobody has the address. */
  readonly unknownKey: string;
  readonly emailKey: string;
}

/** Counts a mail to an address. It changes a row exactly if that is within the limit. */
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

/** Takes an attempt back that turned out not to be a failure. */
export function forgiveAttempt(key: string): Statement {
  return statement("UPDATE _throttle SET count = count - 1 WHERE key = ? AND count > 0", key);
}

/** `[started_at]` of a window, for Retry-After. */
export function windowStart(key: string): Statement {
  return statement("SELECT started_at FROM _throttle WHERE key = ?", key);
}

/** `address` is hashed. */
export function rememberAddress(userId: string, address: string): Statement {
  return statement(
    `INSERT INTO _known_addresses (user_id, address) SELECT id, ? FROM _users WHERE id = ?
    ON CONFLICT DO NOTHING`,
    address,
    userId,
  );
}
