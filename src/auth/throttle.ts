import { Refusal } from "../http/refusal.js";
import type { Database, Result, Statement } from "../platform/database.js";
import type { Config } from "../project/config.js";
import { hashSecret } from "./api-key.js";
import { countAttempts, forgiveAttempts, type ThrottledAttempts, windowStart } from "./store/throttle.js";

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
 * (docs/reference/auth.md#throttle). The stored keys are hashed with `pepper`, so that they reveal neither people nor
 * addresses.
 */
export class PasswordThrottle {
  constructor(
    private readonly database: Database,
    private readonly limits: Config["auth"]["throttle"],
    private readonly pepper: string,
  ) {}

  async attempt({ emailKey, address, now }: PasswordAttempt): Promise<CountedAttempt> {
    const addressKey = await this.key("known", address);
    if (!this.limits.enabled) return { count: [], judge: async () => null, forgive: [], addressKey };
    const { max_failures, max_failures_per_address, max_failures_per_account, window_secs } = this.limits;
    const windowMs = window_secs * 1000;
    const attempts: ThrottledAttempts = {
      both: { key: await this.key("both", emailKey, address), max: max_failures },
      ofAddress: { key: await this.key("address", address), max: max_failures_per_address },
      ofAccount: { key: await this.key("account", emailKey), max: max_failures_per_account },
      emailKey,
      addressKey,
      now,
      windowMs,
    };
    return {
      count: [countAttempts(attempts)],
      judge: async ([counted]) => (counted!.rows.length > 0 ? null : this.refusal(attempts)),
      forgive: forgiveAttempts([attempts.both.key, attempts.ofAddress.key, attempts.ofAccount.key]),
      addressKey,
    };
  }

  private async refusal(attempts: ThrottledAttempts): Promise<Refusal> {
    const { now, windowMs } = attempts;
    const [result] = await this.database.query([windowStart(attempts)]);
    const startedAt = (result!.rows[0]?.[0] as number | undefined) ?? now;
    const seconds = Math.max(1, Math.ceil((startedAt + windowMs - now) / 1000));
    return new Refusal("rate_limited", "too many failed attempts", {
      headers: { "Retry-After": String(seconds) },
    });
  }

  private key(...parts: readonly string[]): Promise<string> {
    return hashSecret(JSON.stringify([this.pepper, ...parts]));
  }
}
