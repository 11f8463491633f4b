import type { Keyring } from "../../encoding/keyring.js";
import { Refusal } from "../../http/refusal.js";
import type { Database, Statement } from "../../platform/database.js";
import { ask, combined, effect, type Query, together } from "../../platform/query.js";
import type { Config } from "../../project/config.js";
import {
  countAttempts,
  forgiveAttempts,
  moveCounter,
  moveKnownAddress,
  type ThrottledAttempts,
  type UsedUpCounter,
  usedUp,
} from "../store/throttle.js";
import { accountWindowMsMax, strangersMayTryAt } from "./account-backoff.js";
import { throttleKeys } from "./throttle-keys.js";

/** A password attempt, which counts as a failure until the statements `forgive` are run. */
export interface CountedAttempt {
  /** Counts the attempt, for the batch that begins it. */
  readonly count: Query<boolean>;
  /**
   * Takes what `count` returns: whether all limits allow the attempt. Returns null if it may go on, otherwise the
   * refusal `rate_limited`.
   */
  judge(isAllowed: boolean): Promise<Refusal | null>;
  /** Statements that take the count back, to be run in the batch that a successful attempt writes. */
  readonly forgive: readonly Statement[];
  /**
   * To be called once the attempt has failed or its count was taken back: it then no longer counts as an attempt whose
   * outcome is unknown. A second call does nothing.
   */
  end(): void;
  /**
   * The client's address, hashed as in the table `_known_addresses`, which holds the addresses that users have signed
   * in from.
   */
  readonly addressKey: string;
}

/** An attempt to sign in with a password: for which account, from where, and when. */
export interface PasswordAttempt {
  readonly emailKey: string;
  /** The client's IPv4 address, or the /64 network of its IPv6 address, as `addressUnit` gives it. */
  readonly address: string;
  /** When the password is tried, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Counts failed password checks per account and client address together, per address, and per account
 * (docs/reference/auth.md#throttle). Counters are stored under hashes made with a secret of the server (a pepper),
 * which reveal neither people nor addresses. While the secret is being changed, counters stored under the previous one
 * move to the current one when they are next used, so that the change gives nobody more attempts, and owners are still
 * known by their addresses.
 */
export class PasswordThrottle {
  /** For each counter, by its key: how many attempts it counts of which this process does not know the outcome yet. */
  readonly #underWay = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly limits: Config["auth"]["throttle"],
    private readonly peppers: Keyring<string>,
  ) {}

  async attempt({ emailKey, address, now }: PasswordAttempt): Promise<CountedAttempt> {
    const addressKeys = await this.addressKeys(address);
    const addressKey = addressKeys.current;
    if (!this.limits.enabled) return { count: always, judge: async () => null, forgive: [], end: () => {}, addressKey };
    const { max_failures, max_failures_per_address, max_failures_per_account, window_secs } = this.limits;
    const windowMs = window_secs * 1000;
    const both = await this.keys("both", emailKey, address);
    const ofAddress = await this.keys("address", address);
    const ofAccount = await this.keys("account", emailKey);
    const moves = [...[both, ofAddress, ofAccount].flatMap(moveCounter), ...moveKnownAddress(emailKey, addressKeys)];
    const attempts: ThrottledAttempts = {
      both: { key: both.current, max: max_failures, windowMs },
      ofAddress: { key: ofAddress.current, max: max_failures_per_address, windowMs },
      ofAccount: {
        key: ofAccount.current,
        max: max_failures_per_account,
        windowMs: Math.max(windowMs, Math.ceil(accountWindowMsMax / max_failures_per_account)),
        windowMsMax: Math.max(windowMs, accountWindowMsMax),
        backoffMs: windowMs,
      },
      emailKey,
      addressKey,
      now,
    };
    const counters = [both.current, ofAddress.current, ofAccount.current] as const;
    let isUnderWay = false;
    return {
      count: combined(together(effect(...moves), countAttempts(attempts)), ([, isAllowed]) => isAllowed),
      judge: async (isAllowed) => {
        if (!isAllowed) return this.refusal(attempts);
        isUnderWay = true;
        this.#countUnderWay(counters, 1);
        return null;
      },
      forgive: forgiveAttempts(counters),
      end: () => {
        if (isUnderWay) this.#countUnderWay(counters, -1);
        isUnderWay = false;
      },
      addressKey,
    };
  }

  #countUnderWay(counters: readonly string[], difference: 1 | -1): void {
    for (const key of counters) {
      const count = (this.#underWay.get(key) ?? 0) + difference;
      if (count === 0) this.#underWay.delete(key);
      else this.#underWay.set(key, count);
    }
  }

  /**
   * Returns the hash of a client's address, as in the table `_known_addresses`, which holds the addresses that users
   * have signed in from.
   */
  async addressKey(address: string): Promise<string> {
    return (await this.addressKeys(address)).current;
  }

  private addressKeys(address: string): Promise<Keyring<string>> {
    return this.keys("known", address);
  }

  private async refusal(attempts: ThrottledAttempts): Promise<Refusal> {
    const counters = await ask(this.database, usedUp(attempts));
    const mayTryAt = counters.map((counter) => tryAgainAt(attempts, counter, this.#underWay.get(counter.key) ?? 0));
    const seconds = Math.max(1, Math.ceil((Math.max(...mayTryAt) - attempts.now) / 1000));
    return new Refusal("rate_limited", "too many failed attempts", {
      headers: { "Retry-After": String(seconds) },
    });
  }

  private keys(...parts: readonly string[]): Promise<Keyring<string>> {
    return throttleKeys(this.peppers, ...parts);
  }
}

/** What counts an attempt where nothing is counted. */
const always: Query<boolean> = { statements: [], read: () => true };

/**
 * When an attempt that a counter has refused may be made again, in milliseconds since the epoch. If the limit is
 * reached only because of attempts whose outcome is not known yet, that is at once: one of them may turn out right, and
 * is then not counted any more.
 */
function tryAgainAt(
  attempts: ThrottledAttempts,
  { key, startedAt, endsAt, count }: UsedUpCounter,
  underWay: number,
): number {
  const { both, ofAddress, ofAccount } = attempts;
  const { max } = [both, ofAddress, ofAccount].find((counted) => counted.key === key)!;
  if (count - underWay < max) return attempts.now;
  if (key !== ofAccount.key) return endsAt;
  const counter = { startedAt, count: count - underWay, max, backoffMs: ofAccount.backoffMs };
  return Math.min(endsAt, strangersMayTryAt(counter));
}
