import { Refusal } from "../http/refusal.js";
import type { Database, Statement } from "../platform/database.js";
import type { Config } from "../project/config.js";
import { hashSecret } from "./api-key.js";
import { countAttempt, countAttemptBehind, forgiveAttempt, windowStart } from "./store/throttle.js";

/** A password attempt that may go on, counted as a failure until it is forgiven. */
export interface Admission {
  /** Take the attempt back; for the batch that a success writes. */
  readonly forgive: readonly Statement[];
}

export interface PasswordAttempt {
  readonly emailKey: string;
  /** Of the client, by `addressUnit`. */
  readonly address: string;
  /** The account has signed in from there before: strangers elsewhere cannot lock its owner out. */
  readonly addressIsKnown: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Counter {
  readonly key: string;
  readonly max: number;
}

/**
 * Counts failed password checks per account and address together, per address, and per account (interface, section 2).
 * Keys are hashed with `pepper`, so that the table names neither people nor addresses.
 */
export class PasswordThrottle {
  constructor(
    private readonly database: Database,
    private readonly limits: Config["auth"]["throttle"],
    private readonly pepper: string,
  ) {}

  async admit(attempt: PasswordAttempt): Promise<Admission | Refusal> {
    if (!this.limits.enabled) return { forgive: [] };
    const counters = await this.counters(attempt);
    const windowMs = this.limits.window_secs * 1000;
    const results = await this.database.batch(
      // From the narrowest on: a stranger who is refused already cannot use up what others share.
      counters.map(({ key, max }, i) => {
        const counted = { key, max, now: attempt.now, windowMs };
        return i === 0 ? countAttempt(counted) : countAttemptBehind(counted);
      }),
    );
    const over = counters.find((_, i) => results[i]!.rows.length === 0);
    if (over === undefined) return { forgive: counters.map(({ key }) => forgiveAttempt(key)) };
    return this.refusal(over, attempt.now, windowMs);
  }

  private async counters({
    emailKey,
    address,
    addressIsKnown,
  }: PasswordAttempt): Promise<readonly Counter[]> {
    const { max_failures, max_failures_per_address, max_failures_per_account } = this.limits;
    return [
      { key: await this.key("both", emailKey, address), max: max_failures },
      { key: await this.key("address", address), max: max_failures_per_address },
      {
        key: await this.key("account", emailKey),
        // Counted all the same, so that an attempt costs the same statements wherever it comes from.
        max: addressIsKnown ? Number.MAX_SAFE_INTEGER : max_failures_per_account,
      },
    ];
  }

  private async refusal({ key }: Counter, now: number, windowMs: number): Promise<Refusal> {
    const [result] = await this.database.query([windowStart(key)]);
    const startedAt = (result!.rows[0]?.[0] as number | undefined) ?? now;
    const seconds = Math.max(1, Math.ceil((startedAt + windowMs - now) / 1000));
    return new Refusal("rate_limited", "too many failed attempts", {
      headers: { "Retry-After": String(seconds) },
    });
  }

  /** How an address is remembered as one that an account has signed in from. */
  addressKey(address: string): Promise<string> {
    return this.key("known", address);
  }

  private key(...parts: readonly string[]): Promise<string> {
    return hashSecret(JSON.stringify([this.pepper, ...parts]));
  }
}
