import type { Keyring } from "../encoding/keyring.js";
import { Refusal } from "../http/refusal.js";
import type { Database, Result, Statement } from "../platform/database.js";
import type { Config } from "../project/config.js";
import { accountWindowMs, strangersMayTryAt } from "./account-backoff.js";
import {
  countAttempt,
  countAttemptBehind,
  counterOf,
  countStrangersAttemptBehind,
  forgiveAttempt,
  moveCounter,
  moveKnownAddress,
} from "./store/throttle.js";
import { throttleKeys } from "./throttle-keys.js";

/** A password attempt that counts as a failure until `forgive` is run. */
export interface CountedAttempt {
  /** Statements that count the attempt, for the batch that begins it. */
  readonly count: readonly Statement[];
  /** Takes the results of `count`. Null: the attempt may go on; otherwise `rate_limited`. */
  judge(results: readonly Result[]): Promise<Refusal | null>;
  /** Statements that take the count back, for the batch that a successful attempt writes. */
  readonly forgive: readonly Statement[];
  /** The hash that stands for the client's address in `_known_addresses`. */
  readonly addressKey: string;
}

/** Who tries a password, and when. */
export interface PasswordAttempt {
  readonly emailKey: string;
  /** The client's address as `addressUnit` gives it. */
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Counts failed password checks per account and address together, per address, and per account
 * (docs/reference/auth.md#throttle). The stored keys are hashed with a pepper, so that they reveal neither people nor
 * addresses. What is stored by the previous secret's pepper moves to the current one's when it is next asked for, so
 * that a change of the secret gives nobody more attempts and makes no owner a stranger.
 */
export class PasswordThrottle {
  constructor(
    private readonly database: Database,
    private readonly limits: Config["auth"]["throttle"],
    private readonly peppers: Keyring<string>,
  ) {}

  async attempt({ emailKey, address, now }: PasswordAttempt): Promise<CountedAttempt> {
    const addressKeys = await this.addressKeys(address);
    const addressKey = addressKeys.current;
    if (!this.limits.enabled) return { count: [], judge: async () => null, forgive: [], addressKey };
    const { max_failures, max_failures_per_address, max_failures_per_account, window_secs } = this.limits;
    const windowMs = window_secs * 1000;
    // The narrowest limit comes first, and an attempt that it refuses is not counted for the wider ones. So a
    // stranger who is refused cannot use up limits that other people share.
    const keyrings = [
      await this.keys("both", emailKey, address),
      await this.keys("address", address),
      await this.keys("account", emailKey),
    ] as const;
    const [both, ofAddress, ofAccount] = keyrings;
    const keys = keyrings.map(({ current }) => current);
    const moves = [...keyrings.flatMap(moveCounter), ...moveKnownAddress(emailKey, addressKeys)];
    const counted = { now, windowMs };
    return {
      count: [
        ...moves,
        countAttempt({ ...counted, key: both.current, max: max_failures }),
        countAttemptBehind({ ...counted, key: ofAddress.current, max: max_failures_per_address }),
        countStrangersAttemptBehind(
          {
            now,
            windowMs: accountWindowMs,
            backoffMs: windowMs,
            key: ofAccount.current,
            max: max_failures_per_account,
          },
          emailKey,
          addressKey,
        ),
      ],
      judge: async (results) => {
        const over = keys.findIndex((_, i) => results[moves.length + i]!.rows.length === 0);
        if (over === -1) return null;
        const mayTryAt = (startedAt: number, count: number) =>
          over === keys.length - 1
            ? strangersMayTryAt({ startedAt, count, max: max_failures_per_account, backoffMs: windowMs })
            : startedAt + windowMs;
        return this.refusal(keys[over]!, keys.slice(0, over), now, mayTryAt);
      },
      forgive: keys.map(forgiveAttempt),
      addressKey,
    };
  }

  /** The hash that stands for a client's address in `_known_addresses`. */
  async addressKey(address: string): Promise<string> {
    return (await this.addressKeys(address)).current;
  }

  private addressKeys(address: string): Promise<Keyring<string>> {
    return this.keys("known", address);
  }

  private async refusal(
    key: string,
    counted: readonly string[],
    now: number,
    mayTryAt: (startedAt: number, count: number) => number,
  ): Promise<Refusal> {
    // This attempt is refused and its password is not checked, so it is taken off the counts of the limits that it
    // has passed.
    const results = await this.database.batch([...counted.map(forgiveAttempt), counterOf(key)]);
    const [startedAt, count] = (results.at(-1)!.rows[0] ?? [now, 0]) as [number, number];
    const seconds = Math.max(1, Math.ceil((mayTryAt(startedAt, count) - now) / 1000));
    return new Refusal("rate_limited", "too many failed attempts", {
      headers: { "Retry-After": String(seconds) },
    });
  }

  private keys(...parts: readonly string[]): Promise<Keyring<string>> {
    return throttleKeys(this.peppers, ...parts);
  }
}
