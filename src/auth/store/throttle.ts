import type { Keyring } from "../../encoding/keyring.js";
import { type SqlValue, type Statement, statement } from "../../platform/database.js";
import { asIs, columns, hasRow, type Query, rowOf, rowsOf } from "../../platform/query.js";

/** A limit: how often something may be counted under one key within a stretch of time (the window). */
export interface Throttled {
  /** The key of the counter: a hash of what is limited, such as a client address. */
  readonly key: string;
  readonly max: number;
  /** How long the window is, in milliseconds. */
  readonly windowMs: number;
}

/**
 * The limit of failed passwords of one account. Its window is not fixed: it grows by `windowMs` with each failure, up
 * to `windowMsMax`.
 */
export interface ThrottledAccount extends Throttled {
  readonly windowMsMax: number;
  /**
   * How long after the window's start strangers (clients whose address the account has never signed in from) may try
   * again once the limit is reached, in milliseconds. With each further failure the time more than doubles
   * (`strangersMayTryAt`).
   */
  readonly backoffMs: number;
}

/**
 * An attempt to sign in with a password. It is counted three times: for the account and the client's address together,
 * for the address, and for the account. `now` is in milliseconds since the epoch.
 */
export interface ThrottledAttempts {
  readonly both: Throttled;
  readonly ofAddress: Throttled;
  readonly ofAccount: ThrottledAccount;
  readonly emailKey: string;
  /**
   * The client's address, hashed as in the table `_known_addresses`, which holds the addresses that users have signed
   * in from.
   */
  readonly addressKey: string;
  readonly now: number;
}

/**
 * Counts an attempt to sign in under all of its keys before its outcome is known, so that concurrent attempts cannot
 * pass a limit together. Returns whether all limits allow it; otherwise nothing is counted, so that what is refused
 * writes nothing, and a stranger who is refused cannot use up limits that other people share. A window that has ended
 * starts anew, and so does one that begins in the future because the clock was set back.
 */
export function countAttempts(attempts: ThrottledAttempts): Query<boolean> {
  const { both, ofAddress, ofAccount, now } = attempts;
  const windows = [both, ofAddress, ofAccount].map(({ key, windowMs }) => [key, now + windowMs]);
  const count = statement(
    `INSERT INTO _throttle (key, started_at, ends_at, count)
    SELECT value ->> 0, ?, value ->> 1, 1 FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM _throttle WHERE ${isUsedUp})
    ON CONFLICT (key) DO UPDATE SET ${countAgain},
      ends_at = CASE WHEN ${ended} THEN excluded.ends_at
        WHEN key = ? THEN started_at + min((count + 1) * ?, ?) ELSE ends_at END
    RETURNING count`,
    BigInt(now),
    JSON.stringify(windows),
    ...usedUpParams(attempts),
    ...countAgainParams(now),
    ...endedParams(now),
    ofAccount.key,
    BigInt(ofAccount.windowMs),
    BigInt(ofAccount.windowMsMax),
  );
  return hasRow(count);
}

const counter = columns({
  key: asIs<string>,
  startedAt: asIs<number>,
  endsAt: asIs<number>,
  count: asIs<number>,
});
/** A counter whose limit is reached. Times are milliseconds since the epoch. */
export type UsedUpCounter = ReturnType<typeof counter>;

/** The counters whose limits refuse an attempt to sign in. The header Retry-After is computed from these. */
export function usedUp(attempts: ThrottledAttempts): Query<readonly UsedUpCounter[]> {
  const select = statement(
    `SELECT key, started_at, ends_at, count FROM _throttle WHERE ${isUsedUp}`,
    ...usedUpParams(attempts),
  );
  return rowsOf(select, counter);
}

const isReached = "key = ? AND started_at <= ? AND ends_at > ? AND count >= ?";
/**
 * SQL: whether one of the three limits refuses an attempt to sign in. Once the limit of an account is reached,
 * strangers (clients whose address the account has never signed in from) get one more attempt when `backoffMs` has
 * passed since the window's start, one more after three times that, then after seven times, and so on. An address that
 * the account has signed in from is not held to this limit, so that strangers cannot lock the owner out. Its attempts
 * are counted all the same, so the count can become large; the exponent that is made of the count is bounded.
 */
const isUsedUp = `(${isReached}) OR (${isReached}) OR (${isReached}
    AND ? - started_at < ? * ((1 << min(count - ? + 1, 32)) - 1) AND NOT EXISTS (
      SELECT 1 FROM _known_addresses k JOIN _users u ON u.id = k.user_id WHERE u.email_key = ? AND k.address = ?))`;

function usedUpParams(attempts: ThrottledAttempts): readonly SqlValue[] {
  const { both, ofAddress, ofAccount, emailKey, addressKey } = attempts;
  const now = BigInt(attempts.now);
  const reached = [both, ofAddress, ofAccount].flatMap(({ key, max }) => [key, now, now, BigInt(max)]);
  return [...reached, now, BigInt(ofAccount.backoffMs), BigInt(ofAccount.max), emailKey, addressKey];
}

const ended = "(ends_at <= ? OR started_at > ?)";
const endedParams = (now: number) => [BigInt(now), BigInt(now)];
/**
 * The assignments of an upsert that counts once more: the counter is raised by one, or starts anew where its window has
 * ended. Each statement that uses them sets `ends_at` itself.
 */
const countAgain = `count = CASE WHEN ${ended} THEN 1 ELSE count + 1 END,
  started_at = CASE WHEN ${ended} THEN excluded.started_at ELSE started_at END`;
const countAgainParams = (now: number) => [...endedParams(now), ...endedParams(now)];

/**
 * The end of an INSERT that counts something under one key. An existing counter is raised if the limit allows it, or
 * starts anew if its window has ended; otherwise nothing changes.
 */
const countAgainWithin = `ON CONFLICT (key) DO UPDATE SET ${countAgain},
  ends_at = CASE WHEN ${ended} THEN excluded.ends_at ELSE ends_at END WHERE count < ? OR ${ended}`;

function countAgainWithinParams(max: number, now: number): readonly SqlValue[] {
  return [...countAgainParams(now), ...endedParams(now), BigInt(max), ...endedParams(now)];
}

/**
 * Counts a request under one key. Returns whether it is within the limit; otherwise nothing is written. A window
 * that has ended starts anew, and so does one that begins in the future because the clock was set back.
 */
export function countRequest({ key, max, windowMs }: Throttled, now: number): Query<boolean> {
  const count = statement(
    `INSERT INTO _throttle (key, started_at, ends_at, count) VALUES (?, ?, ?, 1) ${countAgainWithin} RETURNING count`,
    key,
    BigInt(now),
    BigInt(now + windowMs),
    ...countAgainWithinParams(max, now),
  );
  return hasRow(count);
}

/**
 * When the window ends in which requests are counted under the key, in milliseconds since the epoch; null where none is
 * counted.
 */
export function windowEnd(key: string): Query<number | null> {
  const select = statement("SELECT ends_at FROM _throttle WHERE key = ?", key);
  return rowOf(select, ([endsAt]) => endsAt as number);
}

/** A mail that is to be counted against the limit of mails to one address. */
export interface ThrottledMail extends Throttled {
  /**
   * The key under which the mail is counted instead of `key` if the address has no account. So mails that were
   * requested before the owner of the address registers do not count against the later account.
   */
  readonly unknownKey: string;
  readonly emailKey: string;
}

/**
 * Counts a mail to an address. The statement changes a row exactly if the mail is within the limit. `now` is in
 * milliseconds since the epoch.
 */
export function countMail({ key, unknownKey, emailKey, max, windowMs }: ThrottledMail, now: number): Statement {
  return statement(
    `INSERT INTO _throttle (key, started_at, ends_at, count)
    SELECT iif(EXISTS (SELECT 1 FROM _users WHERE email_key = ?), ?, ?), ?, ?, 1 WHERE true ${countAgainWithin}`,
    emailKey,
    key,
    unknownKey,
    BigInt(now),
    BigInt(now + windowMs),
    ...countAgainWithinParams(max, now),
  );
}

/**
 * Takes back the count of an attempt to sign in that did not fail. `keys` are its three counters. A counter that has
 * counted nothing else is deleted.
 */
export function forgiveAttempts(keys: readonly [string, string, string]): readonly Statement[] {
  return [
    statement("DELETE FROM _throttle WHERE key IN (?, ?, ?) AND count <= 1", ...keys),
    statement("UPDATE _throttle SET count = count - 1 WHERE key IN (?, ?, ?)", ...keys),
  ];
}

/**
 * While the server's secret is being changed: renames a counter from the key made with the previous secret to the key
 * made with the current one. Makes no statement where there is no previous secret. A counter that is stored under the
 * new key already stays as it is.
 */
export function moveCounter({ current, previous }: Keyring<string>): readonly Statement[] {
  if (previous === null) return [];
  return [statement("UPDATE OR IGNORE _throttle SET key = ? WHERE key = ?", current, previous)];
}

/**
 * While the server's secret is being changed: for a client address that an account has signed in from, replaces the
 * hash made with the previous secret by the hash made with the current one. Makes no statement where there is no
 * previous secret.
 */
export function moveKnownAddress(emailKey: string, { current, previous }: Keyring<string>): readonly Statement[] {
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

/**
 * How many client addresses are remembered of one user. If there would be more, some are forgotten, but not the newest.
 */
const knownAddressesMax = 1_000;

/** Remembers that the user has signed in from a client address. `address` is hashed. */
export function rememberAddress(userId: string, address: string): readonly Statement[] {
  return [
    statement(
      `INSERT INTO _known_addresses (user_id, address) SELECT id, ? FROM _users WHERE id = ?
      ON CONFLICT DO NOTHING`,
      address,
      userId,
    ),
    statement(
      `DELETE FROM _known_addresses WHERE user_id = ? AND address IN (
        SELECT address FROM _known_addresses WHERE user_id = ? AND address <> ? LIMIT -1 OFFSET ${knownAddressesMax - 1})`,
      userId,
      userId,
      address,
    ),
  ];
}

/**
 * Makes `address` (hashed) the only client address that is remembered of a user, if `hash` is now the user's password
 * hash: the password was then just changed from that address. Otherwise nothing changes.
 */
export function knowOnlyAddressIfChanged(userId: string, hash: string, address: string): readonly Statement[] {
  const isChanged = "(SELECT password_hash FROM _users WHERE id = ?) = ?";
  return [
    statement(`DELETE FROM _known_addresses WHERE user_id = ? AND ${isChanged}`, userId, userId, hash),
    statement(
      `INSERT INTO _known_addresses (user_id, address) SELECT ?, ? WHERE ${isChanged}`,
      userId,
      address,
      userId,
      hash,
    ),
  ];
}
